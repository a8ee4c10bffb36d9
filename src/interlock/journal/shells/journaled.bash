# Sourced by interlock-journaled in bash.

_interlock_state() {
    local _interlock_names _interlock_exported _interlock_name
    shopt -p
    declare -f
    alias -p
    mapfile -t _interlock_names < <(compgen -v)
    _interlock_exported=$'\n'$(compgen -e)$'\n'
    for _interlock_name in "${_interlock_names[@]}"; do
        case $_interlock_name in
            BASH | BASHOPTS | BASHPID | BASH_* | COMP_* | COPROC | DIRSTACK | EPOCH* | EUID | FUNCNAME | GROUPS | HISTCMD | LINENO | OLDPWD | OPTIND) ;;
            PIPESTATUS | PPID | PWD | RANDOM | SECONDS | SHELLOPTS | SHLVL | SRANDOM | UID | _ | _interlock_*) ;;
            *) [[ $_interlock_exported == *$'\n'"$_interlock_name"$'\n'* ]] || declare -p -- "$_interlock_name" ;;
        esac
    done
    set +o
} 2>/dev/null

# The new shell: $1 and $2 are the descriptors of the state and of the folder at the end, $3 is the text.
_interlock_inner='. "/dev/fd/$1"; eval "exec $1<&-"; unset -f _interlock_state; _interlock_end=$2 _interlock_text=$3; set --
eval "eval \"\$_interlock_text\" $_interlock_end>&-"
_interlock_status=$?; printf "%s\0" "$PWD" >&"$_interlock_end"; exit $_interlock_status'
_interlock_folder= _interlock_status=0 _interlock_errexit=
case $- in *e*) _interlock_errexit=$'\nset -e' ;; esac
exec {_interlock_end}<> <(:)
exec {_interlock_saved}<<<"$(_interlock_state)$_interlock_errexit"
builtin printf '' 2>/dev/null >| @MARKS@/"$2" || : # the hook sees that the call ran as it was rewritten
_interlock_skips=()
[[ ! -s @MARKS@/"$2"+skip ]] || mapfile -t _interlock_skips <@MARKS@/"$2"+skip # folders that are made again
@PROGRAM@ @STORE@ --label "call $1 $2" "${_interlock_skips[@]}" -- "$BASH" --noprofile --norc -c "$_interlock_inner" "$0" "$_interlock_saved" "$_interlock_end" "$3" ||
    _interlock_status=$?
if read -t 0 -u "$_interlock_end"; then
    IFS= read -r -d '' -u "$_interlock_end" _interlock_folder
fi
exec {_interlock_end}<&- {_interlock_saved}<&-
set -- "$_interlock_status" "$_interlock_folder"
unset _interlock_inner _interlock_folder _interlock_status _interlock_errexit _interlock_end _interlock_saved _interlock_skips
unset -f _interlock_state
if [[ -z $2 ]]; then
    exit "$1"
elif [[ $2 != "$PWD" ]]; then
    builtin cd -- "$2" || :
fi
return "$1"
