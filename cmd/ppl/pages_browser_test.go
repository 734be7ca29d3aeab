package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pageKind is a kind of fit whose report differs from those of others.
type pageKind struct {
	name, text string   // of the model; empty: a formula
	formula    []string // arguments of ppl new
	data       func(rng *rand.Rand) string
	command    []string // instead of run
	flags      []string
}

// pageTable writes a table in CSV.
func pageTable(head string, rows int, row func(i int) string) string {
	var b strings.Builder
	b.WriteString(head + "\n")
	for i := range rows {
		b.WriteString(row(i) + "\n")
	}
	return b.String()
}

const pageRegression = `// Does rent depend on floor area and on the district?
data {
  int<lower=0> N;
  vector[N] area;
  int<lower=1> D;
  array[N] int<lower=1, upper=D> district;
  vector[N] rent;
}
parameters {
  real base;
  real per_square_metre;
  vector[D] effect_of_the_district_on_rent;
  real<lower=0> sigma;
}
model {
  base ~ normal(10, 5);
  per_square_metre ~ normal(0, 1);
  effect_of_the_district_on_rent ~ normal(0, 2);
  sigma ~ exponential(1);
  rent ~ normal(base + per_square_metre * area + effect_of_the_district_on_rent[district], sigma);
}
`

// pageKinds are models of each kind.
var pageKinds = []pageKind{
	{name: "regression", formula: []string{"rent ~ area + district", "--family", "gaussian"}, data: func(rng *rand.Rand) string {
		return pageTable("area,district,rent", 60, func(i int) string {
			area := 40 + 60*rng.Float64()
			return fmt.Sprintf("%.1f,%s,%.2f", area, []string{"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogoch", "Centre", "Harbour"}[i%3], 3+0.2*area+float64(i%3)+rng.NormFloat64())
		})
	}},
	{name: "counts", formula: []string{"passed | trials(taken) ~ hours + (1 | school)", "--family", "binomial"}, data: func(rng *rand.Rand) string {
		return pageTable("passed,taken,hours,school", 48, func(i int) string {
			hours := 10 * rng.Float64()
			return fmt.Sprintf("%.0f,12,%.2f,S%d", binomialDraw(12, 1/(1+math.Exp(1.5-0.3*hours)), rng), hours, i%8)
		})
	}},
	{name: "hierarchical", formula: []string{"weight ~ week + (1 + week | animal)", "--family", "gaussian"}, data: func(rng *rand.Rand) string {
		return pageTable("animal,week,weight", 60, func(i int) string {
			animal, week := i/5, float64(i%5)
			return fmt.Sprintf("animal number %d,%g,%.2f", animal, week, 20+math.Sin(float64(animal))+(2+0.3*math.Cos(float64(animal)))*week+0.4*rng.NormFloat64())
		})
	}},
	{name: "series", text: `// How does the level of the river move?
data {
  int<lower=1> T;
  vector[T] level;
}
parameters {
  vector[T] state;
  real<lower=0> drift;
  real<lower=0> noise;
}
model {
  drift ~ normal(0, 1);
  noise ~ normal(0, 1);
  state[1] ~ normal(0, 2);
  state[2:T] ~ normal(state[1:T - 1], drift);
  level ~ normal(state, noise);
}
`, data: func(rng *rand.Rand) string {
		x := 0.0
		return pageTable("level", 50, func(int) string { x += 0.4 * rng.NormFloat64(); return fmt.Sprintf("%.2f", x+0.3*rng.NormFloat64()) })
	}},
	{name: "ordinal", formula: []string{"answer ~ age", "--family", "cumulative"}, data: func(rng *rand.Rand) string {
		return pageTable("answer,age", 70, func(int) string {
			age := 20 + 50*rng.Float64()
			return fmt.Sprintf("%d,%.0f", 1+min(3, max(0, int(age/20+rng.NormFloat64()))), age)
		})
	}},
	{name: "mixture", text: `// Are there three kinds of stars?
data {
  int<lower=0> N;
  vector[N] brightness;
}
parameters {
  simplex[3] share;
  ordered[3] centre;
  real<lower=0> spread;
}
model {
  share ~ dirichlet([2, 2, 2]');
  centre ~ normal(0, 5);
  spread ~ exponential(1);
  for (n in 1:N) {
    vector[3] part;
    for (k in 1:3) {
      part[k] = log(share[k]) + normal_lpdf(brightness[n] | centre[k], spread);
    }
    target += log_sum_exp(part);
  }
}
`, data: func(rng *rand.Rand) string {
		return pageTable("brightness", 80, func(i int) string { return fmt.Sprintf("%.2f", 4*float64(i%3)-4+0.7*rng.NormFloat64()) })
	}},
	{name: "outcomes", text: `// Do temperature and sales move together?
data {
  int<lower=0> N;
  vector[N] day;
  vector[N] temperature;
  array[N] int<lower=0> sales;
}
parameters {
  real warm;
  real trend;
  real<lower=0> sigma;
  real rate;
  real by_day;
}
model {
  warm ~ normal(15, 10);
  trend ~ normal(0, 1);
  sigma ~ exponential(0.2);
  rate ~ normal(3, 1);
  by_day ~ normal(0, 0.2);
  temperature ~ normal(warm + trend * day, sigma);
  sales ~ poisson_log(rate + by_day * day);
}
`, data: func(rng *rand.Rand) string {
		return pageTable("day,temperature,sales", 30, func(i int) string {
			return fmt.Sprintf("%d,%.1f,%d", i, 10+0.3*float64(i)+2*rng.NormFloat64(), 15+i+rng.IntN(8))
		})
	}},
	{name: "ode", text: `// How fast does the drug leave the blood?
functions {
  vector leaves(real t, vector y, real k) {
    return -k * y;
  }
}
data {
  int<lower=1> N;
  array[N] real hour;
  vector[N] concentration;
}
parameters {
  real<lower=0> k;
  real<lower=0> start;
  real<lower=0> sigma;
}
model {
  array[N] vector[1] y = ode_rk45(leaves, [start]', 0, hour, k);
  k ~ lognormal(-1, 0.5);
  start ~ lognormal(2, 1);
  sigma ~ exponential(2);
  for (n in 1:N) {
    concentration[n] ~ lognormal(log(y[n][1]), sigma);
  }
}
`, data: func(rng *rand.Rand) string {
		return pageTable("hour,concentration", 12, func(i int) string {
			return fmt.Sprintf("%d,%.3f", i+1, 10*math.Exp(-0.25*float64(i+1)+0.1*rng.NormFloat64()))
		})
	}},
	{name: "tempered", text: `parameters {
  real place;
  vector[2] width_of_each_of_the_two_modes_of_the_density;
}
model {
  target += log_mix(0.3, normal_lpdf(place | -6, 1), normal_lpdf(place | 6, 1));
  width_of_each_of_the_two_modes_of_the_density ~ normal(0, 3);
}
`, flags: []string{"--sampler", "tempered"}},
	{name: "variational", command: []string{"variational"}, text: pageRegression, data: pageRents},
	{name: "pathfinder", command: []string{"pathfinder"}, text: pageRegression, data: pageRents},
	{name: "problems", text: `data { int N; vector[N] y; }
parameters { real mu; real log_tau; vector[9] effect; }
model {
  mu ~ normal(0, 5);
  log_tau ~ normal(0, 3);
  effect ~ normal(mu, exp(log_tau));
  y ~ normal(mu, 1);
}
`, flags: []string{"--sampler", "nuts"}, data: func(rng *rand.Rand) string {
		return pageTable("y", 3, func(int) string { return fmt.Sprintf("%.2f", rng.NormFloat64()) })
	}},
}

func pageRents(rng *rand.Rand) string {
	return pageTable("area,district,rent", 40, func(i int) string {
		area := 40 + 60*rng.Float64()
		return fmt.Sprintf("%.1f,%s,%.2f", area, []string{"Centre", "Harbour", "Hill"}[i%3], 3+0.2*area+float64(i%3)+rng.NormFloat64())
	})
}

// pageFaults finds what is wrong with the look of a page: parts that are wider than the window,
// parts that scroll although they need not, texts with too little contrast to their ground, and
// words that are broken although the next line has room for them.
const pageFaults = `(() => {
  const faults = new Set(), root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) faults.add("the page is " + (root.scrollWidth - root.clientWidth) + " wider than the window");
  const name = (e) => e.tagName.toLowerCase() + (e.getAttribute("class") ? "." + e.getAttribute("class").trim().split(/\s+/).join(".") : "") + " «" + e.textContent.trim().slice(0, 40) + "»";
  const seen = (e) => e.checkVisibility() && e.getClientRects().length > 0;
  for (const e of document.querySelectorAll(".scroll, pre")) {
    if (seen(e) && e.scrollWidth > e.clientWidth + 1 && e.tagName !== "PRE") faults.add("scrolls sideways by " + (e.scrollWidth - e.clientWidth) + ": " + name(e.closest("[aria-label]") || e));
  }
  const numbers = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255, v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walker.nextNode()); ) {
    const e = n.parentElement;
    if (!n.data.trim() || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(e.tagName) || !seen(e) || e.closest(":disabled")) continue;
    const s = getComputedStyle(e), svg = e instanceof SVGElement;
    const c = numbers(svg ? s.fill : s.color).slice(0, 3), a = light(c), b = light(ground(svg ? e.closest("svg").parentElement : e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faults.add("contrast " + ratio.toFixed(1) + ": " + name(e));
    if (svg || e.closest("pre, code")) continue;
    for (const m of n.data.matchAll(/[\p{L}\p{N}]+/gu)) {
      if (m[0].length > 16) continue; // longer words may have to be broken
      const r = document.createRange();
      r.setStart(n, m.index);
      r.setEnd(n, m.index + m[0].length);
      if (new Set([...r.getClientRects()].map((q) => Math.round(q.top))).size > 1) faults.add("a broken word, " + m[0] + ": " + name(e));
    }
  }
  return [...faults].slice(0, 12).join("\n");
})()`

// TestPagesInBrowser looks at the report of each kind of fit, and at a comparison, at four widths,
// light and dark.
func TestPagesInBrowser(t *testing.T) {
	program := os.Getenv(browserVariable)
	if program == "" {
		t.Skipf("no browser: %s is not set, as in %s=/usr/bin/chromium", browserVariable, browserVariable)
	}
	dir := t.TempDir()
	c := startChromium(t, program)
	t.Chdir(dir) // pages show the paths as the user writes them
	look := func(name string) {
		t.Helper()
		path := filepath.Join(dir, name+".html")
		c.window(1440, 900, false)
		c.open((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String())
		c.until("the foot", "document.querySelector('footer').textContent.includes('no network')")
		c.print(name)
		c.eval("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
		for _, width := range []int{1440, 900, 400, 360} {
			for _, dark := range []bool{false, true} {
				if dark && width == 400 && os.Getenv(shotsVariable) == "" {
					continue
				}
				c.window(width, 900, dark)
				time.Sleep(250 * time.Millisecond)
				if faults := c.eval(pageFaults); faults != "" {
					t.Errorf("%s at a width of %d, dark %v:\n%s", name, width, dark, faults)
				}
				if width != 360 {
					c.whole(fmt.Sprintf("%s-%d-%v", name, width, dark))
				}
			}
		}
		c.quiet()
	}
	run := func(args ...string) {
		t.Helper()
		var out, errs strings.Builder
		if code := execute(args, &out, &errs); code != 0 {
			t.Fatalf("ppl %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
		}
	}
	for n, k := range pageKinds {
		model, fit := k.name+".model", k.name
		var data []string
		if k.data != nil {
			path := k.name + ".csv"
			if err := os.WriteFile(path, []byte(k.data(rand.New(rand.NewPCG(uint64(n), 41)))), 0o666); err != nil {
				t.Fatal(err)
			}
			data = []string{"--data", path}
		}
		if k.formula != nil {
			run(append(append(append([]string{"new"}, k.formula...), data...), "-o", model)...)
		} else if err := os.WriteFile(model, []byte(k.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if k.command != nil {
			run(append(append(append(k.command, model), data...), "--seed", "1", "-q", "--out", fit)...)
		} else {
			run(append(append(append([]string{"run", model}, data...), k.flags...), "--seed", "1", "--draws", "200", "-q", "--out", fit)...)
		}
		run("report", fit, "--out", fit+".html", "-q")
		look(k.name)
	}
	other := "without the district"
	run("new", "rent ~ area", "--family", "gaussian", "--data", "regression.csv", "-o", other+".model")
	run("run", other+".model", "--data", "regression.csv", "--seed", "1", "--draws", "200", "-q", "--out", other)
	run("report", "regression", other, "--out", "comparison.html", "-q")
	look("comparison")
}
