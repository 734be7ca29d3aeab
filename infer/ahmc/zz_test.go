package ahmc_test
import ("testing";"fmt";"math";"os";"strings";"strconv"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/infertest"
)
func load(set string) *infertest.LogisticRegression {
	b,_ := os.ReadFile("/work/shared/data/blr/"+set+".csv")
	lines := strings.Split(strings.TrimSpace(string(b)),"\n")[1:]
	r := &infertest.LogisticRegression{Scale:10}
	var cols [][]float64
	for _, l := range lines {
		f := strings.Split(strings.TrimSpace(l),",")
		var row []float64
		for _, v := range f { x,_ := strconv.ParseFloat(v,64); row=append(row,x) }
		r.Y = append(r.Y, row[len(row)-1]==1)
		row = row[:len(row)-1]
		if set=="ripley" { c:=[]float64{}; for p:=1;p<=3;p++ { for _,v:=range row { c=append(c, math.Pow(v,float64(p))) } }; row=c }
		cols = append(cols,row)
	}
	d := len(cols[0]); n:=len(cols)
	for j:=range d { m,s:=0.0,0.0; for i:=range n {m+=cols[i][j]/float64(n)}; for i:=range n {s+=(cols[i][j]-m)*(cols[i][j]-m)}; s=math.Sqrt(s/float64(n-1)); for i:=range n {cols[i][j]=(cols[i][j]-m)/s} }
	r.D=d+1
	for i:=range n { r.X=append(r.X,1); r.X=append(r.X,cols[i]...) }
	return r
}
func TestZZ(t *testing.T) {
	for _, set := range []string{"ripley","pima","heart","australian","german"} {
		target := load(set)
		for name, s := range map[string]infer.Sampler{
			"1 paper": ahmc.Sampler{Box: ahmc.Box{.01,.2,1,100}},
			"2 paper frozen": ahmc.Sampler{Box: ahmc.Box{.01,.2,1,100}, Freeze:true},
			"3 auto": ahmc.Sampler{},
			"4 auto diag": ahmc.Sampler{Metric: infer.Diagonal},
			"5 auto dense": ahmc.Sampler{Metric: infer.Dense},
			"6 nuts unit .8": nuts.Sampler{Adapt: warmup.Options{Metric: infer.Unit}},
			"7 nuts diag .8": nuts.Sampler{},
		} {
			const chains=10
			x, rep := sample(t, target, infer.Config{Sampler:s, Chains:chains, Warmup:1000, Draws:5000, Seed: 20130616, Init: infer.Uniform{Radius:0.1}})
			var m, m2, un, eps, L, warm, lf float64
			for c := range x {
				least, leastU := math.Inf(1), math.Inf(1)
				for j := range target.D {
					col := column(x[c:c+1], func(v []float64) float64 {return v[j]})
					capd, u := diagnose.InitialMonotoneESS(col[0])
					least=min(least,capd); leastU=min(leastU,u)
				}
				g := float64(rep.Chains[c].Sampling.Gradients)
				e := least/g
				m+=e/chains; m2+=e*e/chains; un+=leastU/g/chains
				eps+=rep.Chains[c].Kernel["step_size"]/chains; L+=rep.Chains[c].Kernel["steps"]/chains
				warm+=float64(rep.Chains[c].Warmup.Gradients)/chains; lf+=g/5000/chains
			}
			fmt.Printf("%-10s %-15s minESS/leapfrog %.4f +- %.4f uncapped %.4f  leapfrogs/draw %.1f warm-up gradients %.0f  eps %.3f L %.1f\n", set, name, m, math.Sqrt((m2-m*m)/(chains-1)), un, lf, warm, eps, L)
		}
	}
}
