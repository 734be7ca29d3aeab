package data

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"syscall"

	"github.com/ppl-lang/ppl/lang/source"
)

// Count is a variable whose value is found by counting, see [Options].Counts.
type Count struct {
	Name string
	Of   string // the column whose levels are counted; "": rows are counted
}

// String returns the count as [ReadCounts] reads it.
func (c Count) String() string {
	if c.Of == "" {
		return c.Name
	}
	return c.Name + "=" + c.Of
}

// ReadText reads a file of data to its end, within the limits of the options. It reads once, so the
// file may be a pipe. The error is an [*Error].
func ReadText(path string, o Options) (string, error) {
	text, err := source.ReadFile(path, o.within())
	if err != nil {
		return "", o.readError(path, err)
	}
	return text, nil
}

// ReadTextFrom is [ReadText] for an open reader, such as standard input.
func ReadTextFrom(in io.Reader, name string, o Options) (string, error) {
	text, err := source.ReadAll(in, name, o.within())
	if err != nil {
		return "", o.readError(name, err)
	}
	return text, nil
}

// readError returns the error of a data file that cannot be read.
func (o Options) readError(name string, err error) error {
	if e := o.tooLong(name, "", err); e != nil {
		return e
	}
	reason, fix := err.Error(), "check the name of the file"
	var pe *fs.PathError
	if errors.As(err, &pe) {
		reason = pe.Err.Error()
	}
	switch {
	case strings.HasPrefix(name, "{"):
		reason, fix = "these are data, not the name of a file", "write them to a file and give its name, or - for standard input"
	case errors.Is(err, fs.ErrPermission):
		fix = "check that you may read it"
	case errors.Is(err, syscall.EISDIR):
		reason, fix = "this is a folder", "give a file in it"
	}
	return &Error{File: name, Message: "cannot read the data: " + reason, Fix: fix}
}

// Parse reads data in any of the formats: JSON, a table with a header line (separated by commas or
// tabs), R's dump format, or Matrix Market, each optionally compressed by gzip. It recognises the
// format by the file name or, if the name does not show it, by the text. The error, if any, is an
// [*Error].
func Parse(file, text string, o Options) (*Set, error) {
	text, name, err := unpacked(file, text, o)
	if err != nil {
		return nil, err
	}
	if o.howDeclared("") != nil {
		return parseNONMEM(file, text, o)
	}
	if isMarket(name, text) {
		m, err := parseMarket(file, text, o)
		if err != nil {
			return nil, err
		}
		s := &Set{file: file}
		return s, m.add(s, file)
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
	case strings.ContainsAny(firstLine(start), ",;\t"), len(o.Counts) > 0 && start != "":
		return ParseTable(file, text, o)
	}
	return parseOther(file, text, o)
}

// unpacked returns the text of a file, which may be compressed, and its name without the ending for
// that. It refuses texts of formats that are not read.
func unpacked(file, text string, o Options) (plain, name string, err error) {
	plain, name = text, file
	if strings.HasPrefix(text, "\x1f\x8b") {
		plain, err = unzip(text, o.within())
		if e := o.tooLong(file, " when they are unpacked", err); e != nil {
			return "", "", e
		}
		if err != nil {
			return "", "", &Error{File: file, Message: "the compressed data are damaged: " + err.Error(), Fix: "compress the file again"}
		}
		name = strings.TrimSuffix(name, ".gz")
	}
	if source.UTF16(plain) {
		return "", "", inUTF16(file)
	}
	if f := formatOf(plain); f != nil {
		return "", "", &Error{File: file, Message: "this is " + f.name, Fix: f.fix}
	}
	if strings.Contains(plain[:min(len(plain), 4096)], "\x00") {
		return "", "", &Error{File: file, Message: "this is no text, or not in UTF-8", Fix: "give JSON, CSV or an R dump; a table of a spreadsheet is saved as CSV, in UTF-8"}
	}
	return plain, name, nil
}

// format is a file format that users give as data by mistake.
type format struct{ begin, name, fix string }

// formats lists such formats, recognised by their first bytes.
var formats = []format{
	{"PAR1", "a Parquet file", "write the table as CSV: in Python by to_csv(index=False), in R by write.csv(row.names = FALSE)"},
	{"ARROW1", "an Arrow file", "write the table as CSV: in Python by to_csv(index=False), in R by write.csv(row.names = FALSE)"},
	{"PK\x03\x04", "a zip archive or a spreadsheet, such as of Excel", "unpack it; save the sheet of a spreadsheet as CSV, in UTF-8"},
	{"\xd0\xcf\x11\xe0", "a spreadsheet of Excel", "save the sheet as CSV, in UTF-8"},
	{"%PDF-", "a PDF", "give the data that it shows as CSV or JSON"},
	{"\x89HDF", "an HDF5 or NetCDF file", "write the data as JSON or CSV"},
	{"CDF\x01", "a NetCDF file", "write the data as JSON or CSV"},
	{"CDF\x02", "a NetCDF file", "write the data as JSON or CSV"},
	{"\x93NUMPY", "a NumPy array", "write the data as JSON or CSV"},
	{"RDX", "an R workspace of save()", "write it by dump(), or as JSON"},
	{"X\n\x00", "an R object of saveRDS()", "write it by dump(), or as JSON"},
	{"BZh", "compressed by bzip2", "unpack it by bunzip2, or compress it by gzip"},
	{"\xfd7zXZ\x00", "compressed by xz", "unpack it by unxz, or compress it by gzip"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it by unzstd, or compress it by gzip"},
	{"\x1f\x8b", "compressed by gzip", "unpack it by gunzip"},
	{"<!doctype html", "a page of HTML", "give the file of data; a download may have failed"},
	{"<html", "a page of HTML", "give the file of data; a download may have failed"},
	{"version https://git-lfs", "a pointer of Git LFS", "fetch the file by git lfs pull"},
}

// formatOf returns the format of a text if it is one of formats, else nil.
func formatOf(text string) *format {
	for i, f := range formats {
		begin := text[:min(len(text), len(f.begin))]
		if begin == f.begin || f.begin[0] == '<' && strings.EqualFold(begin, f.begin) {
			return &formats[i]
		}
	}
	return nil
}

func inUTF16(file string) *Error {
	return &Error{File: file, Message: "this text is in UTF-16", Fix: "save the file in UTF-8"}
}

// parseOther reads JSON. It refuses counts, which need a table.
func parseOther(file, text string, o Options) (*Set, error) {
	if len(o.Counts) > 0 && strings.TrimSpace(text) != "" {
		return nil, &Error{File: file, Message: "only the rows of a table (CSV) can be counted; these data are JSON", Fix: "give " + o.Counts[0].Name + " in the data, and do not have it counted", Settings: []string{"count"}}
	}
	return ParseText(file, text, o)
}

func parseDump(file, text string, o Options) (*Set, error) {
	if len(o.Counts) > 0 {
		return nil, &Error{File: file, Message: "only the rows of a table (CSV) can be counted; these data are an R dump", Fix: "give " + o.Counts[0].Name + " in the data, and do not have it counted", Settings: []string{"count"}}
	}
	return ParseDump(file, text, o)
}

// assignment matches the beginning of an R dump.
var assignment = regexp.MustCompile("^[\"'`]?[A-Za-z.][A-Za-z0-9._]*[\"'`]?\\s*(<-|=[^=])")

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// unzip unpacks text. It fails if the result is longer than the limit.
func unzip(text string, limit int64) (string, error) {
	length := unzipped(text)
	if length > limit { // make sure before memory is allocated
		var err error
		if length, err = inflate(io.Discard, text, limit); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	b.Grow(int(length)) // so that the memory need not grow in steps
	_, err := inflate(&b, text, limit)
	return b.String(), err
}

// inflate unpacks a text to out, up to a limit, and returns the length.
func inflate(out io.Writer, text string, limit int64) (length int64, err error) {
	in, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		return 0, err
	}
	length, err = io.Copy(out, io.LimitReader(in, limit+1))
	switch {
	case err != nil:
		return 0, err
	case length > limit:
		return 0, &source.TooLongError{Limit: limit}
	}
	return length, in.Close()
}

// unzipped returns the length that text claims to have when it is unpacked, or the largest possible
// one if that is less. A text of several parts, or of 4 GiB, is longer than it claims.
func unzipped(text string) int64 {
	const trailer, maxRatio = 4, 1032 // of deflate
	if len(text) < trailer {
		return 0
	}
	claimed := binary.LittleEndian.Uint32([]byte(text[len(text)-trailer:]))
	return min(int64(claimed), maxRatio*int64(len(text)))
}
