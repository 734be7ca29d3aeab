// A model in closed form as it is.

vector advance(vector y, vector r, array[] int into, real from, real t, array[] real p) { return kinetics(y, r, into, t, p); }

vector settle(vector w, real t, array[] real p) { return settled(w, t, p); }

vector constant(vector r, array[] int into, real at, array[] real p) { return held(r, p); }
