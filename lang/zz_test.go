package lang_test
import ("testing";"strings";"syscall"
"github.com/ppl-lang/ppl/lang/source")
func TestZ(t *testing.T) {
	const lines = `  for (n in 1:N) {
    real eta = alpha + dot_product(x[n], beta) * sigma;
    if (eta > 3)
      eta += gamma[group[n]] ^ 2;
    y[n] ~ normal(eta, sigma); }
`
	f := source.NewFile("bench", "model {\n"+strings.Repeat(lines, 100)+"}\n")
 parse(f)
 var a,b syscall.Rusage
 syscall.Getrusage(0,&a)
 for i:=0;i<200;i++ { parse(f) }
 syscall.Getrusage(0,&b)
 t.Log("cpu us per parse incl GC", ((b.Utime.Sec-a.Utime.Sec)*1e6+b.Utime.Usec-a.Utime.Usec)/200)
}
