package main

import (
	"errors"
	"io"
	"os"
)

// This file decides whether output has colours. --color has precedence over NO_COLOR, and that over
// FORCE_COLOR. Otherwise terminals have colours.

// colorMode is a value of --color.
type colorMode string

const (
	colorAuto   colorMode = "auto"
	colorAlways colorMode = "always"
	colorNever  colorMode = "never"
)

// Set implements pflag.Value.
func (c *colorMode) Set(text string) error {
	switch mode := colorMode(text); mode {
	case colorAuto, colorAlways, colorNever:
		*c = mode
		return nil
	}
	return errors.New("it can be auto, always or never")
}

// String implements pflag.Value.
func (c *colorMode) String() string { return string(*c) }

// Type implements pflag.Value.
func (c *colorMode) Type() string { return "when" }

// tinted is a writer with the value of --color.
type tinted struct {
	io.Writer
	color *colorMode
}

// unwrapped returns the innermost writer, with its value of --color.
func unwrapped(w io.Writer) (io.Writer, colorMode) {
	var color *colorMode
	for {
		switch v := w.(type) {
		case *checkedWriter:
			w, color = v.Writer, v.color
			continue
		case *tinted:
			w, color = v.Writer, v.color
			continue
		}
		if color == nil {
			return w, colorAuto
		}
		return w, *color
	}
}

// colored reports whether w shows colours.
func colored(w io.Writer) bool {
	_, _, terminal := terminalSize(w) // which also makes a console of Windows interpret escapes
	switch _, mode := unwrapped(w); mode {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	if force := os.Getenv("FORCE_COLOR"); force != "" {
		return force != "0"
	}
	return terminal
}
