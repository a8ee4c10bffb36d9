# Interlock guards what is typed at this prompt; `interlock_off` ends that.
# The whole line is judged before its first command; a command that the line does not show, as an alias, is judged by itself.
if [[ $- == *i* ]] && ! declare -F __interlock_debug >/dev/null; then
    if [[ -n $(trap -p DEBUG) ]]; then
        echo 'interlock: this shell has a DEBUG trap already, so what is typed here is not guarded' >&2
    else
        __interlock_state=prompt __interlock_line=
        __interlock_begin() { local status=$?; __interlock_state=prompt; return $status; }
        __interlock_end() { local status=$?; __interlock_state=new; return $status; }
        __interlock_debug() {
            [[ $__interlock_state == prompt || -n ${COMP_LINE-} || ${#FUNCNAME[@]} -gt 1 ]] && return 0
            local line=$BASH_COMMAND
            [[ $line == __interlock_* || $line == interlock_off ]] && return 0
            if [[ $__interlock_state == new ]]; then
                __interlock_state=line
                __interlock_line=$(HISTTIMEFORMAT='' builtin history 1)
                __interlock_line=${__interlock_line#*[0-9]  }
                [[ $__interlock_line == *"$BASH_COMMAND"* ]] && line=$__interlock_line
            elif [[ $__interlock_line == *"$BASH_COMMAND"* ]]; then
                return 0
            fi
            @CHECK@ "$line"
            case $? in 0 | @AGREED@) return 0 ;; esac
            __interlock_state=prompt
            kill -INT $$
            return 1
        }
        interlock_off() { trap - DEBUG; shopt -u extdebug; unset -f __interlock_debug; }
        if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
            PROMPT_COMMAND=(__interlock_begin "${PROMPT_COMMAND[@]}" __interlock_end)
        else
            PROMPT_COMMAND="__interlock_begin; ${PROMPT_COMMAND:+$PROMPT_COMMAND; }__interlock_end"
        fi
        shopt -s extdebug
        trap __interlock_debug DEBUG
    fi
fi
