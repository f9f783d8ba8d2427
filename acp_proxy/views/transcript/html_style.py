"""The look of the HTML transcript, and the policy that forbids all but that look."""

from base64 import b64encode
from hashlib import sha256

from acp_proxy.views.transcript.sgr import palette

# The first 16 colours are chosen to be read on the screen's dark ground.
_BASIC = (
    "#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9",
    "#7f8a9e", "#ff8a93", "#b5e890", "#ffd98f", "#8ac6ff", "#e2a0f5", "#7fdbe6", "#ffffff",
)  # fmt: skip

_PAGE = """
:root{color-scheme:light dark;--bg:#fbfbfa;--fg:#1d2127;--dim:#646b76;--line:#dcdfe4;--box:#f1f2f4;
--user:#e8f0fe;--link:#0b57b0;--bad:#b3261e;--good:#1b6e3c;--c-user:#2867c7;--c-agent:#2c8454;
--c-tool:#b07300;--c-permission:#9440b0;--c-plan:#3a62a8;--c-odd:#b3261e;--add:#e2f5e6;--del:#fde8e7}
@media (prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#dfe2e7;--dim:#98a0ac;--line:#343942;
--box:#20242a;--user:#1d2a3f;--link:#8ab8ff;--bad:#ff8d86;--good:#7fd39b;--c-user:#6ea3f5;
--c-agent:#62c08c;--c-tool:#dca54a;--c-permission:#cf8ee6;--c-plan:#86a9e6;--c-odd:#ff8d86;
--add:#14301d;--del:#3c1a19}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,-apple-system,"Segoe UI",
Roboto,"Noto Sans","DejaVu Sans",sans-serif;overflow-wrap:anywhere}
body>*{max-width:56rem;margin-inline:auto;padding-inline:1rem}
h1{font-size:1.5rem;line-height:1.25;margin:1.5rem 0 .75rem}
h2{font-size:1.15rem;margin:2.5rem 0 .5rem;padding-top:1rem;border-top:2px solid var(--line)}
h3{font-size:1rem;margin:0;display:flex;flex-wrap:wrap;gap:.15rem .6rem;align-items:baseline}
a{color:var(--link)}
code,pre,.title-code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
font-size:.86em}
pre code{font-size:1em}
pre{margin:.4rem 0;padding:.6rem .75rem;background:var(--box);border-radius:6px;overflow:auto;
line-height:1.45;max-height:32rem}
pre.wrap{white-space:pre-wrap}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.1rem .9rem;margin:.35rem 0;
font-size:.9rem}
dt{color:var(--dim)}
dd{margin:0}
nav ul{padding-left:1.2rem;margin:.5rem 0}
.entry{margin:.9rem 0;padding:.15rem 0 .15rem .9rem;border-left:3px solid var(--line)}
.entry.user{border-color:var(--c-user);background:var(--user);border-radius:0 8px 8px 0;
padding:.5rem .9rem}
.entry.agent{border-color:var(--c-agent)}
.entry.tool,.entry.terminal{border-color:var(--c-tool)}
.entry.permission{border-color:var(--c-permission)}
.entry.plan,.entry.notice{border-color:var(--c-plan)}
.entry.odd{border-color:var(--c-odd)}
.entry.turn{border-left-style:dashed}
.entry.change h3{font-size:.9rem;color:var(--dim)}.entry.change{margin:.35rem 0}
.who{font-weight:700}
.user .who{color:var(--c-user)}.agent .who{color:var(--c-agent)}
.tool .who,.terminal .who{color:var(--c-tool)}.permission .who{color:var(--c-permission)}
.plan .who,.notice .who{color:var(--c-plan)}.odd .who{color:var(--c-odd)}
.title{font-weight:400;min-width:0}
.tag{font-weight:400;font-size:.8rem;color:var(--dim);border:1px solid var(--line);
border-radius:9px;padding:0 .5rem}
.tag.bad{color:var(--bad);border-color:currentColor}
.tag.good{color:var(--good)}
.place{margin-left:auto;font-weight:400;font-size:.8rem;color:var(--dim);text-decoration:none;
white-space:nowrap}
.place:hover{text-decoration:underline}
:target{outline:2px solid var(--link);outline-offset:3px}
.line,.hidden,.image{color:var(--dim);font-size:.9rem}
.line{margin:.3rem 0}
details>summary{cursor:pointer;color:var(--dim);font-size:.9rem}
details.entry{margin:.35rem 0}
details.entry>summary h3{display:inline-flex;width:calc(100% - 1.5rem);font-size:.9rem;
vertical-align:top;font-weight:400}
details.entry .who{font-weight:600}
details.thought .prose{font-style:italic;color:var(--dim)}
.prose>:first-child{margin-top:.35rem}.prose>:last-child{margin-bottom:.35rem}
.prose h4,.prose h5,.prose h6{font-size:1rem;margin:.9rem 0 .3rem}
.prose p{margin:.5rem 0}.prose ul,.prose ol{margin:.4rem 0;padding-left:1.5rem}
.prose :not(pre)>code{background:var(--box);border-radius:4px;padding:.05em .3em}
.prose blockquote{margin:.5rem 0;padding-left:.8rem;border-left:3px solid var(--line);color:var(--dim)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;overflow-wrap:normal}
th,td{border:1px solid var(--line);padding:.2rem .55rem;text-align:left}
img{max-width:100%;height:auto;border-radius:6px;display:block;margin:.4rem 0}
.steps{list-style:none;padding-left:0;margin:.35rem 0}
.steps li{padding-left:1.7rem;position:relative}
.steps li::before{content:"\\2610";position:absolute;left:.2rem;color:var(--dim)}
.steps .completed::before{content:"\\2611";color:var(--good)}
.steps .in_progress::before{content:"\\25B6";color:var(--c-tool)}
.steps .cancelled{text-decoration:line-through;color:var(--dim)}
.steps .chosen{font-weight:600}.steps .chosen::before{content:"\\2714";color:var(--good)}
.steps .option::before{content:"\\25CB"}
.steps .chosen.option::before{content:"\\2714"}
.diff span,.screen .row{display:block;min-width:max-content}
.diff .add{background:var(--add)}.diff .del{background:var(--del)}.diff .at{color:var(--dim)}
.screen{background:#1b1e24;color:#d8dee9;print-color-adjust:exact;-webkit-print-color-adjust:exact}
figure{margin:.4rem 0}
figcaption{font-size:.85rem;color:var(--dim)}
.sb{font-weight:700}.sd{opacity:.7}.si{font-style:italic}.su{text-decoration:underline}
.ss{text-decoration:line-through}.su.ss{text-decoration:underline line-through}
.fd{color:#1b1e24}.gd{background:#d8dee9}
@media (max-width:40rem){body{font-size:15px}.entry{padding-left:.6rem}
dl{column-gap:.6rem}.place{margin-left:0}
pre{padding:.5rem;max-height:24rem}}
@media print{:root{--bg:#fff;--fg:#000}body{font-size:10pt}pre{max-height:none;white-space:pre-wrap}
.diff span,.screen .row{min-width:0}.entry{break-inside:auto}h3{break-after:avoid}
a{color:inherit;text-decoration:none}details::details-content{content-visibility:visible;
display:block;block-size:auto}}
"""


def _colours() -> str:
    colours = [*_BASIC, *(palette(number) for number in range(16, 256))]
    return "".join(
        f".f{number}{{color:{colour}}}.g{number}{{background:{colour}}}"
        for number, colour in enumerate(colours)
    )


STYLE = _PAGE.strip() + "\n" + _colours() + "\n"
"""The whole style sheet."""

POLICY = (
    "default-src 'none'; img-src data:; style-src 'sha256-"
    + b64encode(sha256(STYLE.encode()).digest()).decode()
    + "'; base-uri 'none'; form-action 'none'"
)
"""Nothing may be loaded or run but this style sheet and images that stand in the page."""
