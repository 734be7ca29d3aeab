package data

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/ppl-lang/ppl/lang/source"
)

// Options say how data are read that are not JSON. The zero value is the default.
type Options struct {
	// Counts names variables that a table does not have, for [ParseTable].
	Counts []Count

	// Limit bounds the length in bytes of data that were compressed; 0:
	// [DefaultLimit].
	Limit int64
}

// Count is a variable that counts.
type Count struct {
	Name string
	Of   string // the column whose levels are counted; "": the rows
}

// Parse reads data in any of the formats: JSON, a table with a header line (CSV,
// or with tabs), or R's dump format, each also compressed by gzip. The name of
// the file tells which, or, where it does not, as for standard input, the text.
// The error, if any, is an [*Error].
func Parse(file, text string, o Options) (*Set, error) {
	name := file
	if strings.HasPrefix(text, "\x1f\x8b") {
		plain, err := unzip(text, o.Limit)
		if long := (*source.TooLongError)(nil); errors.As(err, &long) {
			return nil, &Error{File: file, Message: "the data are longer than " + source.Bytes(long.Limit) + " when they are unpacked", Fix: "allow for more by --max-data"}
		}
		if err != nil {
			return nil, &Error{File: file, Message: "the compressed data are damaged: " + err.Error(), Fix: "compress the file again"}
		}
		text = plain
		name = strings.TrimSuffix(name, ".gz")
	}
	switch ext := strings.ToLower(path.Ext(name)); {
	case ext == ".csv" || ext == ".tsv":
		return ParseTable(file, text, o)
	case ext == ".r" || ext == ".dump" || ext == ".rdump":
		return parseDump(file, text, o)
	case ext == ".json":
		return parseOther(file, text, o)
	}
	start := strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\r\n")
	switch {
	case strings.HasPrefix(start, "{") || strings.HasPrefix(start, "["):
	case assignment.MatchString(start) || strings.HasPrefix(start, "#") && strings.Contains(start, "<-"):
		return parseDump(file, text, o)
	case strings.ContainsAny(firstLine(start), ",\t"):
		return ParseTable(file, text, o)
	}
	return parseOther(file, text, o)
}

// parseOther reads JSON, in which there is nothing to count.
func parseOther(file, text string, o Options) (*Set, error) {
	if len(o.Counts) > 0 {
		return nil, &Error{File: file, Message: "only the rows of a table (CSV) can be counted; these data are JSON", Fix: "leave out --count, and give " + o.Counts[0].Name + " in the data"}
	}
	return ParseText(file, text)
}

func parseDump(file, text string, o Options) (*Set, error) {
	if len(o.Counts) > 0 {
		return nil, &Error{File: file, Message: "only the rows of a table (CSV) can be counted; these data are an R dump", Fix: "leave out --count, and give " + o.Counts[0].Name + " in the data"}
	}
	return readDump(file, text, cmp.Or(o.Limit, DefaultLimit))
}

// assignment is how an R dump begins.
var assignment = regexp.MustCompile("^[\"'`]?[A-Za-z.][A-Za-z0-9._]*[\"'`]?\\s*(<-|=[^=])")

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// unzip unpacks text, but no more than the limit.
func unzip(text string, limit int64) (string, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	in, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(in, limit+1))
	switch {
	case err != nil:
		return "", err
	case n > limit:
		return "", &source.TooLongError{Limit: limit}
	}
	return b.String(), in.Close()
}
