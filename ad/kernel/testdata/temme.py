from fractions import Fraction as F
# mu(eta) = lambda-1 as a power series: eta^2/2 = mu - log(1+mu); mu' = eta(1+mu)/mu, mu = sum a_k eta^k, a_1=1
N=60
a=[F(0),F(1)]
# mu mu' = eta (1+mu). coefficients: sum_{i+j=n+1} i... 
# coefficient of eta^m: sum_{i=1}^{m} (m+1-i) a_i a_{m+1-i} = a_{m-1} (+1 if m==1)
for m in range(2,N+2):
    # unknown a_m appears with i=1 and i=m: m*a_1*a_m + 1*a_m*a_1 = (m+1) a_m
    s=sum((m+1-i)*a[i]*a[m+1-i] for i in range(2,m))
    a.append((a[m-1]-s)/(m+1))
r=a[1:]            # mu/eta
# 1/r
inv=[F(1)]
for n in range(1,len(r)):
    inv.append(-sum(r[i]*inv[n-i] for i in range(1,n+1)))
# 1/mu = inv/eta
# Stirling gamma_k: Gamma*(a) = sum g_k a^-k
K=14
# from log series: B_{2n}/(2n(2n-1)) a^{1-2n}
B=[F(1)]
from math import comb
for m in range(1,40):
    B.append(-sum(comb(m+1,k)*B[k] for k in range(m))/(m+1))
L=[F(0)]*(K+2)
for n in range(1,K):
    if 2*n-1<=K: L[2*n-1]=B[2*n]/(2*n*(2*n-1))
g=[F(1)]
for k in range(1,K+1):
    g.append(sum(i*L[i]*g[k-i] for i in range(1,k+1))/k)
# c_0 = 1/mu - 1/eta ; c_k = c_{k-1}'/eta + (-1)^k g_k/mu
c=[]
prev=[inv[i+1] for i in range(len(inv)-1)]
c.append(prev)
for k in range(1,K):
    d=[(i)*prev[i] for i in range(1,len(prev))]  # derivative
    sg=(-1)**k*g[k]
    # (d + sg*inv)/eta ; constant must vanish
    n=min(len(d),len(inv))
    t=[d[i]+sg*inv[i] for i in range(n)]
    assert t[0]==0,(k,t[0])
    prev=t[1:]
    c.append(prev)
if __name__=='__main__':
    print([str(x) for x in r[:6]]); print([float(x[0]) for x in c])

def table():
    eta, a0 = 0.58, 50.0
    print("var temmeRatio = [...]float64{" + ", ".join(repr(float(x)) for i, x in enumerate(r) if abs(float(x)) * eta**i > 1e-18) + "}")
    print("var temmeTerms = [...][]float64{")
    n=0
    for k in range(K):
        row = [float(x) for i, x in enumerate(c[k]) ]
        keep = [i for i,x in enumerate(row) if abs(x)*eta**i*a0**-k*(i+1)**2 > 1e-18]
        if not keep: break
        row=row[:max(keep)+1]
        n+=len(row)
        print("\t{" + ", ".join(repr(x) for x in row) + "},")
    print("}")
    print(n)
table()
