# Checks stores of TestZarrInPython, which come on standard input as a tar file: one
# from during a run of 400 draws, one from after it. Arguments: the values of c and of
# z (real and imaginary parts) at draw 7 of chain 1, and how many draws of chain 1 there
# were during the run. Warnings are errors.
import json, sys, tarfile, tempfile
import numpy as np
import xarray as xr
import zarr

folder = tempfile.mkdtemp()
with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
    archive.extractall(folder, filter="data")
c, z, n = (np.array(json.loads(a)) for a in sys.argv[1:])

after = folder + "/after"
tree = xr.open_datatree(after, engine="zarr")
groups = {"posterior", "sample_stats", "warmup_posterior", "warmup_sample_stats", "log_likelihood",
          "posterior_predictive", "prior", "prior_predictive", "observed_data", "constant_data"}
assert set(tree.children) == groups, set(tree.children)
posterior = tree["posterior"].to_dataset()
assert dict(posterior.c.sizes) == {"chain": 2, "draw": 400, "c_dim_0": 2, "c_dim_1": 3}
assert (posterior.c.sel(chain=1, draw=7).values.ravel() == c).all()
assert (posterior.z.sel(chain=1, draw=7).values == z.view(complex)).all()
assert posterior.k.dtype == np.int64 and posterior.mu.dtype == np.float64
assert tree["sample_stats"].diverging.dtype == bool
assert tree["posterior_predictive"].y.dtype == np.int64
assert tree["observed_data"].y.dtype == np.int64 and list(tree["observed_data"].y.values) == [1, 2, 3]
assert float(tree["constant_data"].unused) == 3.5
assert tree["posterior"].attrs["inference_library"] == "ppl"
assert not np.isnan(posterior.mu.values).any()
apart = xr.open_zarr(after, group="posterior")
assert apart.identical(posterior.load()) or apart.load().equals(posterior.load())
consolidated = zarr.open_consolidated(after)
assert consolidated["posterior/c"].shape == (2, 400, 2, 3)

during = xr.open_datatree(folder + "/during", engine="zarr")
mu = during["posterior"].mu.values
assert mu.shape == (2, 400)
assert (mu[0] == posterior.mu.values[0]).all()  # the first chain was complete
assert (mu[1, :n] == posterior.mu.values[1, :n]).all() and np.isnan(mu[1, n:]).all()

# netCDF has no complex numbers: of these the parts.
flat = tree.map_over_datasets(lambda d: d.drop_vars([n for n in d.data_vars if d[n].dtype.kind == "c"]))
flat.to_netcdf(folder + "/fit.nc")
back = xr.open_datatree(folder + "/fit.nc")
assert (back["posterior"].c.values == posterior.c.values).all()
print("all as it should be")
