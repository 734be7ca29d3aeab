package lang_test
import ("testing";"strings";"time"
"github.com/ppl-lang/ppl/lang/source")
func TestZ(t *testing.T) {
 for _,n:=range []int{25000,50000,100000} { s:=time.Now(); parse(source.NewFile("t","model { "+strings.Repeat("{}",n))); t.Log(n,time.Since(s)) }
}
