package main

import (
	"context"
	"encoding/json"
	"math"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const asked = `{"variants": [
  {"name": "old", "visitors": 1000, "buyers": 100},
  {"name": "new", "visitors": 1000, "buyers": 125}]}`

func ask(s *service, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/best", strings.NewReader(body)))
	return w
}

func testService(t testing.TB) *service {
	s, err := newService(30 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// With a uniform prior the rates are independent, each Beta(1 + buyers, 1 + others). The
// probability that the second is larger has a closed form for integer parameters: a sum of ratios
// of beta functions.
func TestAnswer(t *testing.T) {
	w := ask(testService(t), asked)
	var got struct{ Variants []answer }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || len(got.Variants) != 2 {
		t.Fatalf("status %d, %s, %v", w.Code, w.Body, err)
	}
	lbeta := func(a, b float64) float64 {
		x, _ := math.Lgamma(a)
		y, _ := math.Lgamma(b)
		z, _ := math.Lgamma(a + b)
		return x + y - z
	}
	const a1, b1, a2, b2 = 101, 901, 126, 876
	exact := 0.0
	for i := range a2 {
		i := float64(i)
		exact += math.Exp(lbeta(a1+i, b1+b2) - math.Log(b2+i) - lbeta(1+i, b2) - lbeta(a1, b1))
	}
	v := got.Variants
	// The standard error of a probability estimated from 1600 correlated draws is below 0.01.
	if p := v[1].ProbabilityBest; math.Abs(p-exact) > 0.03 || math.Abs(v[0].ProbabilityBest+p-1) > 1e-9 {
		t.Errorf("the new variant is the best with probability %v, exactly %v; the old one %v", p, exact, v[0].ProbabilityBest)
	}
	for i, mean := range []float64{a1 / 1002., a2 / 1002.} {
		if r := v[i].Rate; math.Abs(r.Mean-mean) > 0.0015 || !(r.Low < mean && mean < r.High) {
			t.Errorf("rate of %s: %+v, mean exactly %v", v[i].Name, r, mean)
		}
	}
	if math.Abs(v[0].Lift.Mean) > 1e-12 || v[0].ExpectedLoss < v[1].ExpectedLoss || v[1].Lift.Mean < 0.15 {
		t.Errorf("%+v", v)
	}
}

func TestMistakes(t *testing.T) {
	s := testService(t)
	for _, test := range []struct{ body, want string }{
		{``, "EOF"},
		{`{"variant": []}`, "unknown field"},
		{`{"variants": [{"name": "a", "visitors": 1, "buyers": 1}]}`, "give 2 to 50"},
		{`{"variants": [{"visitors": 1, "buyers": 1}, {"visitors": 1, "buyers": 2}]}`, "2 buyers of 1 visitors"},
		{`{"prior": [0, 1], "variants": [{"visitors": 1}, {"visitors": 1}]}`, "must have positive parameters"},
		{strings.Repeat(" ", maxBytes+1), "too large"},
	} {
		if w := ask(s, test.body); w.Code != 400 || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%.100s: status %d, %s", test.body, w.Code, w.Body)
		}
	}
}

// TestDeadline checks that sampling ends at the deadline, and when the client disconnects.
func TestDeadline(t *testing.T) {
	s := testService(t)
	s.timeout = time.Microsecond
	if w := ask(s, asked); w.Code != 504 && w.Code != 503 {
		t.Errorf("status %d, %s", w.Code, w.Body)
	}
	var q question
	if err := json.Unmarshal([]byte(asked), &q); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := s.answer(ctx, &q); err == nil {
		t.Errorf("an answer for nobody: %v", a)
	}
}

// TestMemory limits the memory that a request allocates. A third of it is for the comparison of the
// log density with the reference evaluator, at nine points of each run.
func TestMemory(t *testing.T) {
	s := testService(t)
	const requests = 20
	var before, after runtime.MemStats
	for range 2 { // the first requests also build tables
		runtime.ReadMemStats(&before)
		for range requests {
			if w := ask(s, asked); w.Code != 200 {
				t.Fatalf("status %d, %s", w.Code, w.Body)
			}
		}
		runtime.ReadMemStats(&after)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / requests; each > 3.5e6 {
		t.Errorf("a request allocates %d bytes", each)
	}
}

// BenchmarkRequest measures requests of 4 chains with 800 transitions each. B/op is the memory
// allocated per request, p50 the median time of a request.
func BenchmarkRequest(b *testing.B) {
	for _, bench := range []struct {
		name    string
		clients int
	}{{"1 client", 1}, {"50 clients", 50}} {
		b.Run(bench.name, func(b *testing.B) {
			s := testService(b)
			times := make([]float64, b.N)
			var next atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			var all sync.WaitGroup
			for range bench.clients {
				all.Go(func() {
					for {
						i := int(next.Add(1)) - 1
						if i >= b.N {
							return
						}
						began := time.Now()
						if w := ask(s, asked); w.Code != 200 {
							b.Errorf("status %d, %s", w.Code, w.Body)
						}
						times[i] = time.Since(began).Seconds() * 1000
					}
				})
			}
			all.Wait()
			slices.Sort(times)
			b.ReportMetric(times[len(times)/2], "p50-ms")
			b.ReportMetric(times[len(times)*99/100], "p99-ms")
		})
	}
}
