// Package packed has the embedded files of released programs, compressed: 0.17 MB of 0.87. The
// functions written in Stan, files of package stdlib, are not packed, since every start reads them.
//
//	packed.go    Folder: the files in a program that was built with the tag packed
//	write.go     Write: makes the file that such a program embeds
//	archive.go   Compress and Open: files compressed as a whole, of a folder or of a web site
//
// A package that embeds text declares its files twice, for builds with and without the tag, and
// reads both alike. Without the tag it embeds them as they are in the repository, as go install
// needs. internal/cmd/lean writes the packed file and prints the tag.
//
// Each folder is compressed as a whole, since its files are alike, and decompressed at the first
// use, which takes at most 7 ms. Together the folders would be 5 % smaller, but each use would then
// decompress all of them.
package packed

// group is a folder of the repository, and the patterns of its packed files.
type group struct {
	folder   string
	patterns []string
}

func groups() []group {
	return []group{
		{"", []string{"spec.md"}},
		{"doc/reference/json", []string{"*.schema.json"}},
		{"examples", []string{"*/*.data.json", "*/*.model"}},
		{"front/report", []string{"page/*"}},
		{"front/web", []string{"page/*"}},
		{"lang/diag", []string{"codes*.go"}},
	}
}
