#compdef acp-proxy
# Completion of acp-proxy for zsh; made by: acp-proxy completion zsh

_acp_proxy_completion() {
    local program=${(Q)words[1]} kind text
    local -a response items
    program=${program/#\~\//$HOME/}
    [[ $program == /* ]] || program=acp-proxy
    response=("${(@f)$(COMP_WORDS="${(pj:\n:)words[1,CURRENT-1]}"$'\n'"$QIPREFIX$PREFIX" \
        _ACP_PROXY_COMPLETE=zsh_complete command $program 2>/dev/null)}")
    for kind text in "${(@)response}"; do
        case $kind in
            plain) items+=("$text") ;;
            file) compset -P '*='; _files; return ;;
            command) shift $((CURRENT - 1 - text)) words; CURRENT=$((text + 1)); _normal ;;
        esac
    done
    (( $#items )) && _describe -V acp-proxy items
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _acp_proxy_completion "$@"
elif (( $+functions[compdef] )); then
    compdef _acp_proxy_completion acp-proxy
else
    print -u2 'acp-proxy: completion comes after: autoload -U compinit && compinit'
fi
