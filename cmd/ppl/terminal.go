package main

import (
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// terminalSize returns the numbers of columns and rows if w is a terminal that understands escape
// sequences.
func terminalSize(w io.Writer) (width, height int, ok bool) {
	w, _ = unwrapped(w)
	f, isFile := w.(*os.File)
	if !isFile || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) || !enableEscapes(f) {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 80, 24, true
	}
	return width, height, true
}

// unicodeTerminal reports whether a terminal is likely to show characters beyond ASCII.
func unicodeTerminal() bool {
	if runtime.GOOS == "windows" {
		return os.Getenv("WT_SESSION") != "" // Windows Terminal
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(os.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
