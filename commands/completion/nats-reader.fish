# Completion of nats-reader for fish.
#
#   nats-reader completion fish > ~/.config/fish/completions/nats-reader.fish

function __nats_reader_complete
    set -l before (commandline -opc)
    set -l raw (commandline -ct)
    set -l current (string unescape -- "$raw" 2>/dev/null; or string replace -r '^[\'"]' '' -- "$raw")
    for line in (command $before[1] __complete words $before "=$current" 2>/dev/null)
        switch $line
            case \tfiles
                __fish_complete_path $current
            case \tfolders
                __fish_complete_directories $current ''
            case \topen
                # fish has no word for it
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c nats-reader -e
complete -c nats-reader -f -a '(__nats_reader_complete)'
