//go:build packed

package packed

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"strings"
	"sync"
)

//go:embed files.zip
var text string

// folders returns functions that decompress each folder once.
var folders = sync.OnceValue(func() map[Folder]func() (*zip.Reader, error) {
	all := map[Folder]func() (*zip.Reader, error){}
	for _, g := range groups() {
		all[Folder(g.folder)] = sync.OnceValues(func() (*zip.Reader, error) {
			z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
			if err != nil {
				return nil, err
			}
			archive, err := fs.ReadFile(z, g.folder+suffix)
			if err != nil {
				return nil, err
			}
			return Open(archive)
		})
	}
	return all
})

// Folder is a folder of packed files, one of groups. It has the methods of embed.FS.
type Folder string

// Open implements fs.FS.
func (f Folder) Open(name string) (fs.File, error) {
	z, err := folders()[f]()
	if err != nil {
		return nil, err
	}
	return z.Open(name)
}

// ReadFile returns the content of a file.
func (f Folder) ReadFile(name string) ([]byte, error) {
	z, err := folders()[f]()
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(z, name)
}

// ReadDir lists a folder.
func (f Folder) ReadDir(name string) ([]fs.DirEntry, error) {
	z, err := folders()[f]()
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(z, name)
}
