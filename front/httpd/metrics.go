package httpd

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Metrics are counts and times for Prometheus, in its text format:
// https://prometheus.io/docs/instrumenting/exposition_formats. The methods may be
// called by several goroutines.
type Metrics struct {
	mu       sync.Mutex
	families []*family
}

// family is a metric with all its labels.
type family struct {
	name, help, kind string
	buckets          []float64
	series           map[string]*series // by their labels
	read             func() float64     // returns the value of a gauge
}

type series struct {
	value  float64 // value; for a histogram, the sum
	counts []uint64
	total  uint64
}

// Counter adds an amount to a metric. Labels alternate between names and values.
type Counter func(amount float64, labels ...string)

// Counter declares a metric that only grows.
func (m *Metrics) Counter(name, help string) Counter {
	f := m.add(&family{name: name, help: help, kind: "counter"})
	return func(amount float64, labels ...string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		f.at(labels).value += amount
	}
}

// Histogram declares a metric that counts values by size; buckets are their
// upper bounds, ascending.
func (m *Metrics) Histogram(name, help string, buckets ...float64) Counter {
	f := m.add(&family{name: name, help: help, kind: "histogram", buckets: buckets})
	return func(value float64, labels ...string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		s := f.at(labels)
		for i, b := range buckets {
			if value <= b {
				s.counts[i]++
			}
		}
		s.value += value
		s.total++
	}
}

// Gauge declares a metric whose value is read when the metrics are requested.
func (m *Metrics) Gauge(name, help string, read func() float64) {
	m.add(&family{name: name, help: help, kind: "gauge", read: read})
}

func (m *Metrics) add(f *family) *family {
	f.series = map[string]*series{}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.families = append(m.families, f)
	return f
}

// at finds the series with the labels.
func (f *family) at(labels []string) *series {
	var b strings.Builder
	for i := 0; i+1 < len(labels); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%s="%s"`, labels[i], escape.Replace(labels[i+1]))
	}
	key := b.String()
	s, ok := f.series[key]
	if !ok {
		s = &series{counts: make([]uint64, len(f.buckets))}
		f.series[key] = s
	}
	return s
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// ServeHTTP implements [http.Handler]. It sends all metrics.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	io.WriteString(w, m.text())
}

func (m *Metrics) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, f := range m.families {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		if f.read != nil {
			fmt.Fprintf(&b, "%s %s\n", f.name, number(f.read()))
			continue
		}
		keys := make([]string, 0, len(f.series))
		for k := range f.series {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, key := range keys {
			s := f.series[key]
			if f.kind != "histogram" {
				fmt.Fprintf(&b, "%s%s %s\n", f.name, braces(key), number(s.value))
				continue
			}
			for i, bound := range f.buckets {
				fmt.Fprintf(&b, "%s_bucket%s %d\n", f.name, braces(key, `le="`+number(bound)+`"`), s.counts[i])
			}
			fmt.Fprintf(&b, "%s_bucket%s %d\n", f.name, braces(key, `le="+Inf"`), s.total)
			fmt.Fprintf(&b, "%s_sum%s %s\n%s_count%s %d\n", f.name, braces(key), number(s.value), f.name, braces(key), s.total)
		}
	}
	return b.String()
}

func braces(labels ...string) string {
	labels = slices.DeleteFunc(labels, func(l string) bool { return l == "" })
	if len(labels) == 0 {
		return ""
	}
	return "{" + strings.Join(labels, ",") + "}"
}
