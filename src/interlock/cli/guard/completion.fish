@DESCRIBED@
complete -c interlock -n 'not __fish_use_subcommand' -a '(set -l line (commandline -opc); $line[1] $line[2] --help 2>/dev/null | @OPTIONS@)'
