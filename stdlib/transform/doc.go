// Package transform maps unconstrained numbers to values that satisfy a declared constraint, with
// the log Jacobian of the map, and back. It is used for declared parameters and for functions of
// the library.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// Each constraint is a row of a table. The row has the shape of the unconstrained numbers, the map,
// the addends of the logarithm of its absolute Jacobian determinant, and the inverse. All are graph
// expressions, so they are differentiated like everything else. A row is written for one vector or
// matrix; for an array of them, the graph has one lane for each.
//
// Map of the package:
//
//	transform.go  Transform, Of, Edition; the tables of rows; constraints on single numbers
//	vectors.go    ordered, positive_ordered, unit_vector
//	simplex.go    sum_to_zero_*, simplex, *_stochastic_matrix
//	matrices.go   corr_matrix, cov_matrix and their Cholesky factors
//	sums.go       cumulative sums, Helmert matrices
//
// # The maps
//
// Unconstrained numbers are u, values x, sizes K. The sections are those of the chapter "Constraint
// Transforms" in Stan's reference manual, which derives the Jacobians. The other properties of a
// type (its checks, its minimum sizes) are in the table of constrained types in lang/types.
//
// Lower bounded scalar: x = a + exp u; log J = u.
//
// Upper bounded scalar: x = b - exp u; log J = u.
//
// Lower and upper bounded scalar: x = a + (b-a) s with s = 1/(1 + exp(-u)); log J = log(b-a) + log
// s + log(1-s).
//
// Affinely transformed scalar: x = m + c u; log J = log c.
//
// Ordered vector: x₁ = u₁, xₖ = xₖ₋₁ + exp uₖ; log J = u₂ + … + u_K.
//
// Positive ordered vector: x₁ = exp u₁, then the same; log J = u₁ + … + u_K.
//
// Sum-to-zero vector: x = V u, where V is the K × (K-1) Helmert matrix. Its orthonormal columns are
// orthogonal to the vector of ones: column n has 1/√(n(n+1)) in its first n rows, -n/√(n(n+1)) in
// the next row and 0 below. A sum-to-zero matrix is x = W₁ u W₂ᵀ, with a W for its rows and one for
// its columns. W is V with its first row moved to the end, as in Stan. The maps are isometries: log
// J = 0.
//
// Unit simplex: x = softmax(V u), the inverse isometric log ratio (Egozcue et al. 2003); log J = ½
// log K + Σ log xₖ. Before Stan 2.36, see [Stan232], it was stick-breaking: zₖ = 1/(1 + exp(-uₖ +
// log(K-k))), xₖ = zₖ Π_{j<k} (1-zⱼ), and x_K is the rest; log J = Σ log zₖ + log(1-zₖ) + log
// Π_{j<k} (1-zⱼ).
//
// Stochastic matrix: each row, or each column, is a simplex.
//
// Unit vector: x = u/‖u‖, with K unconstrained numbers. Instead of log J it uses -½ ‖u‖², a density
// that makes the redundant length ‖u‖ proper and independent of x.
//
// Cholesky factors of correlation matrices: z = tanh u fills the triangle below the diagonal row by
// row; xᵢⱼ = zᵢⱼ Π_{k<j} √(1-zᵢₖ²), with 1 for zᵢᵢ; log J = Σ_{i>j} (1 + ½(i-1-j)) log(1-zᵢⱼ²).
//
// Correlation matrices: the same with z filled column by column, and x = L Lᵀ; log J = Σ_{i>j} (1 +
// ½(K-1-j)) log(1-zᵢⱼ²) (Lewandowski, Kurowicka and Joe 2009).
//
// Cholesky factors of covariance matrices: u fills the triangle row by row, with exponentials on
// the diagonal; log J is the sum of the u on the diagonal. If there are M > N rows, the last M-N
// are full.
//
// Covariance matrices: the same, and x = L Lᵀ; log J = K log 2 + Σ (K-k+2) uₖₖ.
package transform
