# Completion of acp-proxy for bash; made by: acp-proxy completion bash

_acp_proxy_completion() {
    local program=acp-proxy kind text at
    case $1 in
        /*) program=$1 ;;
        "~/"*) program=$HOME${1#"~"} ;;
    esac
    COMPREPLY=()
    while IFS= read -r kind && IFS= read -r text; do
        case $kind in
            plain) COMPREPLY+=("$text") ;;
            file) compopt -o default 2>/dev/null ;;
            command)
                # From which word on: bash broke them at : and = too.
                for ((at = COMP_CWORD; at > 1; at--)); do
                    [[ -z $text || ${COMP_WORDS[at]} == "$text" ]] && break
                done
                if ((at > 1)) && declare -F _command_offset >/dev/null; then
                    _command_offset "$at"
                elif [[ $text ]]; then
                    compopt -o default 2>/dev/null
                else
                    compopt -o filenames 2>/dev/null
                    while IFS= read -r text; do
                        COMPREPLY+=("$text")
                    done < <(compgen -A command -- "$2" | sort -u)
                fi
                ;;
        esac
    done < <(COMP_WORDS=${COMP_LINE:0:COMP_POINT} COMP_WORDBREAKS=$COMP_WORDBREAKS \
        _ACP_PROXY_COMPLETE=bash_complete command "$program" 2>/dev/null)
}

complete -o nosort -F _acp_proxy_completion acp-proxy 2>/dev/null ||
    complete -F _acp_proxy_completion acp-proxy # bash before 4.4
