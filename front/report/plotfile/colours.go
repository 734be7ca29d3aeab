package plotfile

import (
	"image/color"
	"math"

	"github.com/ppl-lang/ppl/front/report"
)

// chains has the colours of chains, by Okabe and Ito, as in the HTML report.
var chains = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xb5, 0x55, 0x8d, 0xff},
	{0xb9, 0x82, 0x00, 0xff}, {0x42, 0x98, 0xcf, 0xff}, {0x5f, 0x4b, 0x8b, 0xff}, {0x4d, 0x4d, 0x4d, 0xff},
}

// light is a role for points drawn on a coloured surface.
const light report.Role = "light"

// colour returns the colour of a layer.
func colour(l *report.Layer) color.NRGBA {
	switch l.Role {
	case report.OfChain:
		return chains[(l.Chain-1)%len(chains)]
	case report.OfCategory:
		return chains[(l.Category-1)%len(chains)]
	case report.Data:
		return color.NRGBA{0x7b, 0x87, 0x94, 0xa0}
	case report.First, report.Inner:
		return chains[0]
	case report.Second:
		return chains[1]
	case light:
		return color.NRGBA{0xff, 0xff, 0xff, 0xc8}
	case report.Replicated:
		return faint(chains[0], 0.4)
	case report.Divergent, report.Bad, report.Chosen:
		return color.NRGBA{0xc2, 0x41, 0x0c, 0xff}
	case report.Reference:
		return color.NRGBA{0x7b, 0x87, 0x94, 0xff}
	}
	return color.NRGBA{0x1b, 0x21, 0x28, 0xff}
}

func faint(c color.NRGBA, opacity float64) color.NRGBA {
	c.A = uint8(math.Round(opacity * float64(c.A)))
	return c
}

// viridis maps 0 to 1 to colours whose order is visible in grey and to colour-blind readers.
func viridis(t float64) color.NRGBA {
	stops := [][3]float64{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}
	at := min(max(t, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	mix := func(k int) uint8 {
		return uint8(math.Round(stops[i][k] + (at-float64(i))*(stops[i+1][k]-stops[i][k])))
	}
	return color.NRGBA{mix(0), mix(1), mix(2), 0xff}
}
