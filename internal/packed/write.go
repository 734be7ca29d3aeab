package packed

import (
	"io/fs"
	"path"
)

// File is the path of the packed file in the repository.
const File = "internal/packed/files.zip"

// suffix is what the name of a folder's archive has after the folder.
const suffix = ".zip.lzma"

// Write returns the packed file of a repository: a zip file with the archive of each folder. The
// same files give the same bytes.
func Write(repository fs.FS) ([]byte, error) {
	archives := map[string][]byte{}
	for _, g := range groups() {
		files := map[string][]byte{}
		for _, p := range g.patterns {
			names, err := fs.Glob(repository, path.Join(g.folder, p))
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				text, err := fs.ReadFile(repository, name)
				if err != nil {
					return nil, err
				}
				if g.folder != "" {
					name = name[len(g.folder)+1:]
				}
				files[name] = text
			}
		}
		archive, err := Compress(files)
		if err != nil {
			return nil, err
		}
		archives[g.folder+suffix] = archive
	}
	return store(archives)
}
