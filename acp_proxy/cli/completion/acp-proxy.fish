# Completion of acp-proxy for fish; made by: acp-proxy completion fish

function __acp_proxy_completion
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' -- "$HOME/" $words[1])
    string match -q '/*' -- "$program"; or set program acp-proxy
    command -q "$program"; or return
    set -l line (string escape --no-quoted -- $words | string collect)\n"$current"
    set -l answer (env COMP_WORDS=$line _ACP_PROXY_COMPLETE=fish_complete $program 2>/dev/null)
    while set -q answer[2]
        switch $answer[1]
            case plain
                printf '%s\n' $answer[2]
            case file
                set -l option (string match -r '^--[^=]*=' -- "$current")
                __fish_complete_path (string replace -- "$option" '' "$current") |
                    string replace -r '^' -- "$option"
            case command
                set -l first (math (count $words) - $answer[2] + 1)
                set line (string join ' ' -- (string escape -- $words[$first..-1]) "$current")
                complete "--do-complete=$line"
        end
        set -e answer[1..2]
    end
end

complete --command acp-proxy --no-files --keep-order --arguments '(__acp_proxy_completion)'
