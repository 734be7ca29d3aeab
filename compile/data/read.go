package data

// Options say how data are read that are not JSON. The zero value is the default.
type Options struct{}

// Parse reads data in any of the formats.
func Parse(file, text string, o Options) (*Set, error) { return ParseText(file, text) }
