#compdef interlock
_interlock() {
    local -a commands=(
@DESCRIBED@
    )
    if (( CURRENT == 2 )); then
        _describe command commands
    else
        compadd -- $("$words[1]" "$words[2]" --help 2>/dev/null | @OPTIONS@)
        _files
    fi
}
if [ "$funcstack[1]" = _interlock ]; then _interlock; else compdef _interlock interlock; fi
