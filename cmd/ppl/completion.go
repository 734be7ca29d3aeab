package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// This file: the scripts that complete commands in shells. The script of package cobra for bash
// needs the package bash-completion, which macOS and small containers lack; the script made here
// works without it.

// bashAlone defines the functions of bash-completion that the script uses, unless they are loaded.
const bashAlone = `
__ppl_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    words=("${COMP_WORDS[@]}")
    cword=$COMP_CWORD
    cur="${words[cword]}"
    prev="${words[cword-1]}"
}

__ppl_filedir()
{
    if declare -F _filedir >/dev/null 2>&1; then
        _filedir "$@"
        return
    fi
    compopt -o filenames 2>/dev/null
    local file extension
    while IFS='' read -r file; do
        [[ -n $file ]] && COMPREPLY+=("$file")
    done < <(compgen -d -- "$cur")
    [[ $1 == -d ]] && return
    while IFS='' read -r file; do
        for extension in ${1//|/ }; do
            [[ $file == *."$extension" && ! -d $file ]] && COMPREPLY+=("$file")
        done
    done < <(compgen -f -- "$cur")
}
`

// writeBash writes the script for bash.
func writeBash(w io.Writer, root *cobra.Command, descriptions bool) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, descriptions); err != nil {
		return err
	}
	script := strings.ReplaceAll(b.String(), "_filedir", "__ppl_filedir")
	// The script escapes commas in its proposals, and bash would insert the backslashes. Bash needs
	// them only inside braces.
	script = strings.Replace(script, "    __ppl_process_completion_results\n}", "    __ppl_process_completion_results\n    ((${#COMPREPLY[@]})) && COMPREPLY=(\"${COMPREPLY[@]//\\\\,/,}\")\n}", 1)
	script = strings.Replace(script, "complete -o default", bashAlone+"\ncomplete -o default", 1)
	_, err := io.WriteString(w, script)
	return err
}

// completionHelp explains for each shell how to use its script.
var completionHelp = map[string]string{
	"bash": `To complete commands in this shell:

    source <(ppl completion bash)

To complete them in every new shell, put that line into ~/.bashrc.`,
	"zsh": `To complete commands in this shell:

    source <(ppl completion zsh)

To complete them in every new shell, put these lines into ~/.zshrc:

    autoload -U compinit; compinit
    source <(ppl completion zsh)`,
	"fish": `To complete commands in this shell:

    ppl completion fish | source

To complete them in every new shell, write the script to fish's folder:

    ppl completion fish > ~/.config/fish/completions/ppl.fish`,
	"powershell": `To complete commands in this shell:

    ppl completion powershell | Out-String | Invoke-Expression

To complete them in every new shell, put that line into the file $PROFILE.

PowerShell 5.0 or newer is needed. Files are not filtered by their endings there.
This script has not been tried in PowerShell.`,
}

// completions sets the help texts of the commands that print scripts, and makes the command for
// bash print the script of writeBash.
func completions(root *cobra.Command) {
	for shell, help := range completionHelp {
		cmd, _, err := root.Find([]string{"completion", shell})
		if err != nil || cmd.Name() != shell {
			continue
		}
		cmd.Short, cmd.Long = "Print the script that completes commands in "+shell, help
		if shell != "bash" {
			continue
		}
		cmd.Run = nil
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			plain, _ := cmd.Flags().GetBool("no-descriptions")
			return writeBash(cmd.OutOrStdout(), root, !plain)
		}
	}
}
