// Package packed has the embedded files of released programs, compressed: 0.2 MB of 0.6. The
// functions written in Stan, files of package stdlib, are not packed, since every start reads them.
//
//	packed.go   Folder: the files in a program that was built with the tag packed
//	write.go    Write: makes the zip file that such a program embeds
//
// A package that embeds text declares its files twice, for builds with and without the tag, and
// reads both alike. Without the tag it embeds them as they are in the repository, as go install
// needs. internal/cmd/lean writes the zip file and prints the tag.
package packed

// Patterns returns the patterns of the packed files in the repository.
func Patterns() []string {
	return []string{
		"doc/reference/json/*.schema.json",
		"examples/*/*.data.json",
		"examples/*/*.model",
		"front/report/page/*",
		"front/web/page/*",
		"lang/diag/codes*.go",
		"spec.md",
	}
}
