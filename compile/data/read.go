package data

// Options say how a file of data is read.
type Options struct{}

// Read reads a file of data.
func Read(path string, o Options) (*Set, error) { return ReadJSON(path) }
