_interlock() {
    local word=${COMP_WORDS[COMP_CWORD]}
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "@WORDS@" -- "$word"))
    else
        COMPREPLY=($(compgen -f -W "$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --help 2>/dev/null | @OPTIONS@)" -- "$word"))
    fi
}
complete -o filenames -F _interlock interlock
