// A web worker with the program.
import { serve } from "./serve.js";

self.onmessage = serve((m, moved) => self.postMessage(m, moved), (receive) => ({ data }) => receive(data));
