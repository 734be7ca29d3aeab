package report_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// written writes CSV files, one per chain, and reads them as a fit.
func written(t *testing.T, chains, draws int, names []string, value func(chain, draw, column int) float64) *fit.Fit {
	t.Helper()
	var paths []string
	for chain := range chains {
		var b strings.Builder
		b.WriteString(strings.Join(names, ",") + "\n")
		for draw := range draws {
			for i := range names {
				if i > 0 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, "%.17g", value(chain, draw, i))
			}
			b.WriteByte('\n')
		}
		text := strings.NewReplacer("NaN", "nan", "+Inf", "inf", "-Inf", "-inf").Replace(b.String())
		path := filepath.Join(t.TempDir(), fmt.Sprintf("fit_%d.csv", chain+1))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	fit, err := fit.ReadCSV(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

func made(t *testing.T, fit *fit.Fit, o report.Options) *report.Report {
	t.Helper()
	r, err := report.New(context.Background(), fit, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// normal has two chains of standard normal draws, with some divergences.
func normal(t *testing.T) *fit.Fit {
	rng := rand.New(rand.NewPCG(1, 2))
	return written(t, 2, 400, []string{"lp__", "divergent__", "energy__", "a", "b.1", "b.2"}, func(chain, draw, i int) float64 {
		if i == 1 {
			if draw%100 == 7 {
				return 1
			}
			return 0
		}
		return rng.NormFloat64() + 1e6*float64(max(0, i-4)) // b.2 is far from zero
	})
}

func TestSummaryIsThatOfTheFit(t *testing.T) {
	fit := normal(t)
	r := made(t, fit, report.Options{})
	for i, row := range fit.Summary() {
		s := r.Summary
		got := diagnose.Row{Name: s.Name[i], Mean: float64(s.Mean[i]), MCSEMean: float64(s.MCSEMean[i]), SD: float64(s.SD[i]), Q5: float64(s.Q5[i]),
			Q50: float64(s.Q50[i]), Q95: float64(s.Q95[i]), ESSBulk: float64(s.ESSBulk[i]), ESSTail: float64(s.ESSTail[i]), Rhat: float64(s.Rhat[i])}
		if got != row {
			t.Errorf("%v, want %v", got, row)
		}
	}
	if len(r.Findings) != len(fit.Findings()) || len(r.Findings) == 0 {
		t.Errorf("%d findings of %d", len(r.Findings), len(fit.Findings()))
	}
	for _, f := range r.Findings {
		if f.Code == "divergences" && f.Plot != "pairs" {
			t.Errorf("divergences are shown by %q", f.Plot)
		}
	}
}

// TestDraws: the JSON has the draws of the fit, as float32 differences from their median.
func TestDraws(t *testing.T) {
	fit := normal(t)
	text, err := json.Marshal(made(t, fit, report.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Kept       report.Kept
		Divergent  []report.Transition
		Quantities []struct {
			Name, Draws, Divergent string
			Centre                 float64
		}
	}
	if err := json.Unmarshal(text, &page); err != nil {
		t.Fatal(err)
	}
	if page.Kept.Every != 1 || len(page.Divergent) != 8 || len(page.Quantities) != 3 {
		t.Fatalf("%+v, %d divergent, %d quantities", page.Kept, len(page.Divergent), len(page.Quantities))
	}
	for _, q := range page.Quantities {
		quantity, err := fit.Quantity(q.Name)
		if err != nil {
			t.Fatal(err)
		}
		want := quantity.Values()
		unpack := func(text string) []float64 {
			b, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]float64, len(b)/4)
			for i := range out {
				out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))) + q.Centre
			}
			return out
		}
		got := unpack(q.Draws)
		if len(got) != len(want) {
			t.Fatalf("%d draws of %s, want %d", len(got), q.Name, len(want))
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Fatalf("draw %d of %s is %v, want %v", i, q.Name, got[i], want[i])
			}
		}
		for i, v := range unpack(q.Divergent) {
			at := page.Divergent[i]
			if v != got[at.Chain*400+at.Draw] {
				t.Errorf("divergent draw %d of %s is %v", i, q.Name, v)
			}
		}
	}
}

// TestFigures checks that densities integrate to one, that ranks count all draws, and that the last
// effective sample sizes equal those of the summary.
func TestFigures(t *testing.T) {
	fit := normal(t)
	r := made(t, fit, report.Options{})
	rows := fit.Summary()
	for _, q := range r.Quantities {
		byKind := map[string]report.Figure{}
		for _, f := range q.Figures {
			byKind[f.Kind] = f
			if f.Empty() {
				t.Errorf("%s of %s is empty: %s", f.Kind, q.Name, f.Note)
			}
			if f.Alt == "" || f.X.Label == "" || f.Y.Label == "" {
				t.Errorf("%s of %s has not all texts", f.Kind, q.Name)
			}
		}
		for _, l := range byKind["density"].Layers {
			area := 0.0
			for _, y := range l.Y {
				area += y * l.Step
			}
			if math.Abs(area-1) > 0.03 {
				t.Errorf("the density of %s in %s has the integral %v", q.Name, l.Label, area)
			}
		}
		for _, l := range byKind["rank"].Layers {
			sum := 0.0
			for _, y := range l.Y {
				sum += y
			}
			if l.Mark == report.Step && sum != 400 {
				t.Errorf("%v ranks of %s in %s", sum, q.Name, l.Label)
			}
		}
		ess := byKind["ess"].Layers
		if bulk := ess[1].Y[len(ess[1].Y)-1]; math.Abs(bulk-rows[q.Row].ESSBulk) > 1e-3*bulk {
			t.Errorf("the last ESS of %s is %v, want %v", q.Name, bulk, rows[q.Row].ESSBulk)
		}
		acf := byKind["autocorrelation"].Layers[1].Y
		if acf[0] != 1 {
			t.Errorf("the autocorrelation of %s begins with %v", q.Name, acf[0])
		}
	}
}

// TestDensityOfFew: the density is the mean of normal densities around the draws. Their width
// follows R's rule; below it is bw.nrd0(c(-1, 0, 0.5, 2)).
func TestDensityOfFew(t *testing.T) {
	sample := []float64{-1, 0, 0.5, 2}
	fit := written(t, 1, 4, []string{"lp__", "x"}, func(_, draw, i int) float64 { return float64(i) * sample[draw] })
	const width = 0.572635456564
	for _, f := range made(t, fit, report.Options{}).Quantities[0].Figures {
		if f.Kind != "density" {
			continue
		}
		l := f.Layers[0]
		if end := l.From + l.Step*float64(len(l.Y)-1); l.From != -1 || math.Abs(end-2) > 1e-12 {
			t.Errorf("from %v to %v", l.From, end)
		}
		for i, got := range l.Y {
			want := 0.0
			for _, v := range sample {
				z := (l.From + l.Step*float64(i) - v) / width
				want += math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / width / 4
			}
			if math.Abs(got-want) > 2e-3 { // the density is interpolated on a grid
				t.Errorf("density %v at point %d, want %v", got, i, want)
			}
		}
	}
}

// TestOdd: reports of unusual draws can be written, and each empty figure gives the reason.
func TestOdd(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, fit := range map[string]*fit.Fit{
		"no quantities": written(t, 1, 3, []string{"lp__"}, func(int, int, int) float64 { return 1 }),
		"no draws":      written(t, 2, 0, []string{"lp__", "x"}, nil),
		"one draw":      written(t, 1, 1, []string{"lp__", "x", "y"}, func(_, _, i int) float64 { return float64(i) }),
		"constant":      written(t, 2, 50, []string{"lp__", "x", "y"}, func(_, _, i int) float64 { return float64(i) / 3 }),
		"not numbers": written(t, 2, 50, []string{"lp__", "x", "y.1", "y.2", "z"}, func(chain, draw, i int) float64 {
			return [][]float64{{0, nan, inf, -inf, nan}, {0, float64(draw), float64(chain), 1e300 * float64(draw), nan}}[min(draw%7, 1)][i]
		}),
		"strange names": written(t, 2, 50, []string{"lp__", "</script><script>x", "<b>&amp;", "θ.1", "θ.2", "'"}, func(chain, draw, i int) float64 {
			return math.Sin(float64(draw * (i + chain)))
		}),
	} {
		r := made(t, fit, report.Options{Title: "<i>" + name})
		for _, q := range r.Quantities {
			for _, f := range q.Figures {
				if f.Empty() && f.Note == "" {
					t.Errorf("%s: %s of %s is empty, and does not say why", name, f.Kind, q.Name)
				}
			}
		}
		var b bytes.Buffer
		if err := r.WriteHTML(&b); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := b.String()
		if n := strings.Count(text, "<script"); n != 2 {
			t.Errorf("%s: %d scripts", name, n)
		}
		if strings.Contains(text, "<i>") {
			t.Errorf("%s: the title is read as HTML", name)
		}
		start := strings.Index(text, `id="data">`) + len(`id="data">`)
		var back map[string]any
		if err := json.Unmarshal([]byte(text[start:start+strings.Index(text[start:], "</script>")]), &back); err != nil {
			t.Errorf("%s: the data of the page: %v", name, err)
		}
	}
}

// TestPageIsAlone checks that the page loads nothing from other sites, and forbids the browser to
// do so.
func TestPageIsAlone(t *testing.T) {
	var b bytes.Buffer
	if err := made(t, normal(t), report.Options{}).WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?:https?:)?//[\w.-]+\.\w+[^"'\s]*`).FindAllString(b.String(), -1) {
		if m != "http://www.w3.org/2000/svg" { // an XML namespace, which is not loaded
			t.Errorf("the page has the address %s", m)
		}
	}
	if !strings.Contains(b.String(), "default-src 'none'") || !strings.Contains(b.String(), "connect-src 'none'") {
		t.Error("the page may load something")
	}
	if !report.IsPage(b.Bytes()) || report.IsPage([]byte("<html>")) {
		t.Error("pages are not told from others")
	}
	if page, policy := report.LivePage("x"); !report.IsPage(page) || !strings.Contains(policy, "connect-src 'self'") {
		t.Error("the live page cannot ask its server")
	}
}

// TestBounds checks that, with many quantities and draws, the page keeps its size limit, has the
// requested quantities, and states what it leaves out.
func TestBounds(t *testing.T) {
	names := []string{"lp__"}
	for i := range 300 {
		names = append(names, fmt.Sprintf("x.%d", i+1))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	fit := written(t, 2, 600, names, func(int, int, int) float64 { return rng.NormFloat64() })
	const size = 200_000
	r := made(t, fit, report.Options{Size: size, Chosen: func(name string) bool { return name == "x[297]" }})
	text, err := json.Marshal(r.Quantities)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > size || len(text) < size/2 || r.Quantities[0].Name != "x[297]" {
		t.Errorf("%d bytes, the first quantity is %s", len(text), r.Quantities[0].Name)
	}
	if len(r.Summary.Name) != 300 || r.Kept.Every != 2 || r.Kept.Counts[0] != 300 {
		t.Errorf("%d rows, draws kept: %+v", len(r.Summary.Name), r.Kept)
	}
	all := strings.Join(r.Notes, "\n")
	for _, want := range []string{"every second draw", fmt.Sprintf("%d of 300 quantities", len(r.Quantities))} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not said:\n%s", want, all)
		}
	}
}

// TestDocumented checks that doc/how-to/report.md describes each plot in the page's words.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "doc", "how-to", "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.Join(strings.Fields(string(text)), " ")
	for _, k := range report.Kinds() {
		if !strings.Contains(doc, "### "+k.Title+" "+strings.Join(strings.Fields(k.Shows), " ")) {
			t.Errorf("doc/how-to/report.md does not have %q with: %s", k.Title, k.Shows)
		}
	}
}
