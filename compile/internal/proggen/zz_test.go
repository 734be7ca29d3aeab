package proggen
import ("testing";"os";"strconv";"fmt")
func TestZZ(t *testing.T){
	n,_ := strconv.Atoi(os.Getenv("ZZ"))
	bad:=map[string]int{}
	for s:=range uint64(n) { p:=New(s); if err:=valid(p.Text); err!=nil { bad[err.Error()]++; fmt.Println(s, err); if len(bad)==1 { fmt.Println(p.Text)} } }
}
