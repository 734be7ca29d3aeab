package plotfile

import (
	"cmp"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"

	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// fonts finds a font for each character: the Go font, which has Latin, Greek and Cyrillic letters
// in 150 kB, and else a font of the system.
type fonts struct {
	first   *sfnt.Font
	folders []string // of the system's fonts

	mu     sync.Mutex
	files  []string // fonts that are not open, the most likely ones first; nil: not listed
	listed bool
	open   []*sfnt.Font
	known  map[rune]*sfnt.Font // nil: no font has the character
}

// installed are the fonts of this machine. A system font is opened when it is first needed.
var installed = sync.OnceValue(func() *fonts {
	f, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		panic(err) // cannot happen: the font is part of the program
	}
	return &fonts{first: f, folders: systemFolders()}
})

// systemFolders lists the folders in which systems keep fonts.
func systemFolders() []string {
	home, _ := os.UserHomeDir()
	switch runtime.GOOS {
	case "windows":
		return []string{filepath.Join(os.Getenv("SystemRoot"), "Fonts"), filepath.Join(os.Getenv("LOCALAPPDATA"), "Microsoft", "Windows", "Fonts")}
	case "darwin":
		return []string{"/System/Library/Fonts", "/Library/Fonts", filepath.Join(home, "Library", "Fonts")}
	case "js", "wasip1":
		return nil
	}
	return []string{"/usr/share/fonts", "/usr/local/share/fonts", filepath.Join(home, ".local", "share", "fonts"), filepath.Join(home, ".fonts")}
}

// broad lists parts of the names of fonts that have many characters, the most likely ones first.
var broad = []string{"cjk", "pingfang", "hiragino", "msyh", "yahei", "simsun", "msgothic", "malgun", "wqy", "droidsansfallback", "unicode", "unifont", "notosans-regular", "dejavusans.", "noto"}

// maxFonts is the maximum number of fonts that are opened.
const maxFonts = 200

// of returns a font that has a character; nil if there is none.
func (f *fonts) of(r rune) *sfnt.Font {
	if has(f.first, r) {
		return f.first
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if font, ok := f.known[r]; ok {
		return font
	}
	if !f.listed {
		f.list()
	}
	found := f.search(r)
	if f.known == nil {
		f.known = map[rune]*sfnt.Font{}
	}
	f.known[r] = found
	return found
}

// search looks for a character in the open fonts, then in further ones.
func (f *fonts) search(r rune) *sfnt.Font {
	for _, font := range f.open {
		if has(font, r) {
			return font
		}
	}
	for len(f.files) > 0 && len(f.open) < maxFonts {
		path := f.files[0]
		f.files = f.files[1:]
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		font := fontIn(text)
		if font == nil {
			continue
		}
		f.open = append(f.open, font)
		if has(font, r) {
			return font
		}
	}
	return nil
}

// fontIn reads a font, or the first of a collection: the others are the same for other languages or
// weights. It returns nil if it cannot.
func fontIn(text []byte) *sfnt.Font {
	all, err := sfnt.ParseCollection(text) // a font alone is a collection of one
	if err == nil && all.NumFonts() > 0 {
		if font, err := all.Font(0); err == nil {
			return font
		}
	}
	font, err := sfnt.Parse(aligned(text))
	if err != nil {
		return nil
	}
	return font
}

// aligned returns a copy of a font, or of the first of a collection, whose tables begin at
// multiples of 4 bytes, as package sfnt demands. Those of some fonts, such as WenQuanYi Zen Hei,
// do not. It returns nil if the text is no font.
func aligned(text []byte) []byte {
	at := 0
	if len(text) >= 16 && string(text[:4]) == "ttcf" {
		at = int(binary.BigEndian.Uint32(text[12:]))
	}
	if at < 0 || at > len(text)-12 {
		return nil
	}
	n := int(binary.BigEndian.Uint16(text[at+4:]))
	head := 12 + 16*n
	if head > len(text)-at {
		return nil
	}
	out := slices.Clone(text[at : at+head])
	for i := 12; i < head; i += 16 {
		record := out[i : i+16]
		from, size := int(binary.BigEndian.Uint32(record[8:])), int(binary.BigEndian.Uint32(record[12:]))
		if from < 0 || size < 0 || from > len(text) || size > len(text)-from {
			return nil
		}
		for len(out)%4 > 0 {
			out = append(out, 0)
		}
		binary.BigEndian.PutUint32(record[8:], uint32(len(out)))
		out = append(out, text[from:from+size]...)
	}
	return out
}

// list finds the files of fonts.
func (f *fonts) list() {
	f.listed = true
	rank := func(path string) int {
		name := strings.ToLower(filepath.Base(path))
		i := slices.IndexFunc(broad, func(part string) bool { return strings.Contains(name, part) })
		if i < 0 {
			i = len(broad)
		}
		plain := strings.Contains(name, "regular") || !strings.ContainsAny(name, "-")
		return 2*i + map[bool]int{false: 1}[plain]
	}
	for _, folder := range f.folders {
		filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && slices.Contains([]string{".ttf", ".otf", ".ttc", ".otc"}, strings.ToLower(filepath.Ext(path))) {
				f.files = append(f.files, path)
			}
			return nil
		})
	}
	sorting.Stable(f.files, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
}

// has reports whether a font has a character.
func has(f *sfnt.Font, r rune) bool {
	var buffer sfnt.Buffer
	i, err := f.GlyphIndex(&buffer, r)
	return err == nil && i != 0
}

// Missing returns the characters in the texts of figures for which no font is installed. PNG and
// PDF files have question marks in their place; SVG files have the characters.
func Missing(r *report.Report, figures []report.Figure) string {
	var out []rune
	for _, f := range figures {
		texts := append([]string{title(r, f), f.X.Label, f.Y.Label}, slices.Concat(f.X.Names, f.Y.Names)...)
		for _, l := range f.Layers {
			texts = append(texts, l.Label)
		}
		for _, c := range strings.Join(texts, "") {
			if installed().of(c) == nil && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return string(out)
}
