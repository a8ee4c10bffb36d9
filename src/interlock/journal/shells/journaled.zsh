# Sourced by interlock-journaled in zsh.

_interlock_state() {
    local -A _interlock_options
    _interlock_options=("${(@kv)options}")
    emulate -L zsh
    setopt extended_glob
    local _interlock_name
    typeset -p fpath
    functions
    alias -L
    for _interlock_name in "${(@k)parameters}"; do
        case "$_interlock_name:${parameters[$_interlock_name]}" in
            _interlock_* | _:* | *special* | *export* | *local* | *hide* | *readonly*) ;;
            *) typeset -p -- $_interlock_name ;;
        esac
    done
    for _interlock_name in "${(@k)_interlock_options}"; do
        case $_interlock_name in
            exec | interactive | login | monitor | privileged | restricted | rcs | globalrcs | shinstdin | singlecommand | zle) ;;
            *) if [[ ${_interlock_options[$_interlock_name]} == on ]]; then print -r "setopt $_interlock_name"; else print -r "unsetopt $_interlock_name"; fi ;;
        esac
    done
} 2>/dev/null

# The new shell: $1 and $2 are the descriptors of the state and of the folder at the end, $3 is the text.
_interlock_inner='_interlock_saved=$1 _interlock_end=$2 _interlock_text=$3; . "/dev/fd/$1"; exec {_interlock_saved}<&-; unset -f _interlock_state; set --
eval "$_interlock_text"
_interlock_status=$?; printf "%s\0" "$PWD" >&"$_interlock_end"; exit $_interlock_status'
_interlock_folder= _interlock_status=0
exec {_interlock_pipe}< <(:)
exec {_interlock_end}<>/dev/fd/$_interlock_pipe
exec {_interlock_pipe}<&-
exec {_interlock_saved}<<<"$(_interlock_state)"
builtin printf '' 2>/dev/null >| @MARKS@/"$2" || : # the hook sees that the call ran as it was rewritten
_interlock_skips=()
[[ ! -s @MARKS@/"$2"+skip ]] || _interlock_skips=("${(@f)$(<@MARKS@/"$2"+skip)}") # folders that are made again
@PROGRAM@ @STORE@ --label "call $1 $2" "${_interlock_skips[@]}" -- "${${:-/proc/$$/exe}:A}" -f -c "$_interlock_inner" "${ZSH_ARGZERO:-zsh}" "$_interlock_saved" "$_interlock_end" "$3" ||
    _interlock_status=$?
IFS= read -t 0 -r -d '' -u "$_interlock_end" _interlock_folder || :
exec {_interlock_end}<&-
exec {_interlock_saved}<&-
set -- "$_interlock_status" "$_interlock_folder"
unset _interlock_inner _interlock_folder _interlock_status _interlock_end _interlock_pipe _interlock_saved _interlock_skips
unset -f _interlock_state
if [[ -z $2 ]]; then
    exit "$1"
elif [[ $2 != "$PWD" ]]; then
    builtin cd -- "$2" || :
fi
return "$1"
