// Package figures has the common parts of commands that measure: counting allocations, formatting
// numbers, and writing text between the markers of a Markdown file.
package figures

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Allocations returns the number of allocations per call of f.
func Allocations(f func()) float64 {
	f()
	const calls = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64((after.Mallocs - before.Mallocs) / calls)
}

// Mean is a geometric mean with the number of its values.
type Mean struct {
	Ratio float64 `json:"ratio"`
	Count int     `json:"count"`
}

// Geometric returns the geometric mean of positive numbers; zero without numbers.
func Geometric(v []float64) Mean {
	if len(v) == 0 {
		return Mean{}
	}
	s := 0.0
	for _, x := range v {
		s += math.Log(x)
	}
	return Mean{math.Exp(s / float64(len(v))), len(v)}
}

// Ratio returns a/b, or 0 if one of them is unknown.
func Ratio(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return a / b
}

// Number formats a number with three significant digits; 0 means unknown.
func Number(v float64) string {
	switch {
	case !(v > 0):
		return "–"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Floor(math.Log10(v)))), 64)
}

// Nanoseconds formats a time given in nanoseconds; 0 means unknown.
func Nanoseconds(ns float64) string {
	switch {
	case !(ns > 0):
		return "–"
	case ns < 1e3:
		return Number(ns) + " ns"
	case ns < 1e6:
		return Number(ns/1e3) + " µs"
	}
	return Number(ns/1e6) + " ms"
}

// Machine describes the machine on which figures were measured.
type Machine struct {
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	Go    string `json:"go"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
}

// String describes the machine in one line.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s %s/%s", m.CPU, m.Cores, m.Go, m.OS, m.Arch)
}

// ThisMachine describes the machine that the program runs on.
func ThisMachine() Machine {
	m := Machine{CPU: "unknown CPU", Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return m
	}
	defer f.Close()
	cores := 0 // of the machine, not only those available to this process
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		switch strings.TrimSpace(name) {
		case "model name":
			m.CPU = strings.TrimSpace(value)
		case "processor":
			cores++
		}
	}
	m.Cores = max(m.Cores, cores)
	return m
}

// Load returns the load averages of the last 1, 5 and 15 minutes; "" if the system has none.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	words := strings.Fields(string(text))
	if err != nil || len(words) < 3 {
		return ""
	}
	return strings.Join(words[:3], " ")
}

// Section is a place in a Markdown file that a command writes: the text between
// two comments that name it.
type Section struct {
	Name    string // in the comments
	Command string // the command that writes it
	Heading string // heading of the file if it is new
}

// Markers returns the two comments that enclose the section.
func (s Section) Markers() (begin, end string) {
	return fmt.Sprintf("<!-- %s: begin; what stands here is written by %s -->", s.Name, s.Command), fmt.Sprintf("<!-- %s: end -->", s.Name)
}

// Write writes text to the section of a file. It creates the file and its folder if they do not
// exist. It returns an error if the file does not contain the comments.
func (s Section) Write(file, text string) error {
	begin, end := s.Markers()
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = []byte("# " + s.Heading + "\n\n" + begin + "\n" + end + "\n")
	case err != nil:
		return err
	}
	head, rest, ok := strings.Cut(string(old), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s lacks the markers\n%s\n%s", file, begin, end)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(head+begin+"\n"+text+end+tail), 0o644)
}
