# Interlock guards what is typed at this prompt; `interlock_off` ends that.
if [[ -o interactive ]] && (( ! ${+functions[__interlock_accept_line]} )); then
    __interlock_accept_line() {
        local line=$PREBUFFER$BUFFER
        # What does not parse yet goes on in the next line, and what never does is not run: this parses it, and runs nothing.
        unset 'functions[__interlock_parsed]'
        functions[__interlock_parsed]=$line 2>/dev/null
        if [[ $line != interlock_off ]] && (( ${+functions[__interlock_parsed]} )); then
            @CHECK@ "$line" zle
            case $? in
                0) ;;
                @AGREED@) zle -I ;;
                *) zle .send-break; return ;;
            esac
        fi
        zle .accept-line
    }
    interlock_off() { zle -A .accept-line accept-line; unfunction __interlock_accept_line; }
    zle -N accept-line __interlock_accept_line
fi
