package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// This file: the script that completes commands in bash. That of package cobra needs the package
// bash-completion, which macOS and small containers lack; this one does without.

// bashAlone replaces what the script takes from bash-completion where that is not loaded.
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
	// bash quotes commas, which need it in lists of braces alone.
	script = strings.Replace(script, "    __ppl_process_completion_results\n}", "    __ppl_process_completion_results\n    ((${#COMPREPLY[@]})) && COMPREPLY=(\"${COMPREPLY[@]//\\\\,/,}\")\n}", 1)
	script = strings.Replace(script, "complete -o default", bashAlone+"\ncomplete -o default", 1)
	_, err := io.WriteString(w, script)
	return err
}

// completeBash has ppl completion bash write that script.
func completeBash(root *cobra.Command) {
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil || bash.Name() != "bash" {
		return
	}
	bash.Run = nil
	bash.RunE = func(cmd *cobra.Command, _ []string) error {
		plain, _ := cmd.Flags().GetBool("no-descriptions")
		return writeBash(cmd.OutOrStdout(), root, !plain)
	}
}
