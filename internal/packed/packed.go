//go:build packed

package packed

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed files.zip
var text string

// open returns the zip file.
var open = sync.OnceValues(func() (*zip.Reader, error) {
	return zip.NewReader(strings.NewReader(text), int64(len(text)))
})

// Folder is a folder of packed files. It has the methods of embed.FS.
type Folder string

// Open implements fs.FS.
func (f Folder) Open(name string) (fs.File, error) {
	z, err := open()
	if err != nil {
		return nil, err
	}
	return z.Open(path.Join(string(f), name))
}

// ReadFile returns the content of a file.
func (f Folder) ReadFile(name string) ([]byte, error) {
	z, err := open()
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(z, path.Join(string(f), name))
}

// ReadDir lists a folder.
func (f Folder) ReadDir(name string) ([]fs.DirEntry, error) {
	z, err := open()
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(z, path.Join(string(f), name))
}
