package main

// Published figures to compare results with. The paper prints no figures for its Figure 2.
var (
	// bands has ratios of the least effective sample size per leapfrog step of AHMC to that of NUTS
	// at its best δ. A reimplementation of the authors' program had these ratios, up to their
	// error, with 10 chains from the mode.
	bands = map[string][2]float64{
		"ripley":     {1.5, 2.0},
		"pima":       {1.1, 1.5},
		"heart":      {1.0, 1.25},
		"australian": {1.4, 2.3},
		"german":     {0.9, 1.2},
	}

	// girolami has the least, median and largest effective sample sizes of RMHMC from 5000 draws,
	// as means of 10 runs: Girolami and Calderhead (2011), tables 3 to 7.
	girolami = map[string][3]float64{
		"ripley":     {4273, 4677, 4961},
		"pima":       {5000, 5000, 5000},
		"heart":      {4862, 5000, 5000},
		"australian": {4975, 5000, 5000},
		"german":     {4757, 5000, 5000},
	}

	// paperTable1 is Table 1 of the paper: means and standard errors of the least, median and
	// largest "ESS per leapfrog". This can only mean the effective sample size divided by the mean
	// number of leapfrog steps per draw.
	paperTable1 = map[string][3]spread{
		"ahmc": {{1.3, 0.1}, {6.9, 0.7}, {14.9, 1.4}},
		"nuts": {{0.7, 0.3}, {3.5, 1.6}, {9, 2.8}},
	}

	// paperFigure1 has the lag-1 autocorrelation and the acceptance rate of the three settings of
	// Figure 1 with trajectories of fixed length, from a study of the paper. The paper itself only
	// says "around 0.7" about the acceptance rates.
	paperFigure1 = [3]struct{ lag1, lag1Error, accept float64 }{
		{0.18, 0.05, 0.70}, {0.87, 0.03, 0.68}, {0.58, 0.04, 0.996},
	}

	// paperTable2 has the errors on the test set.
	paperTable2 = struct{ expert, mean, median, vote float64 }{0.0510, 0.0498, 0.0458, 0.0355}

	// girolamiCox has the same figures as girolami for the log-Gaussian Cox process, from table 10.
	girolamiCox = [3]float64{1951, 4545, 5000}
)

// girolamiDraws is the number of draws behind the figures of Girolami and Calderhead.
const girolamiDraws = 5000
