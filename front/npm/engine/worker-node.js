// A thread of Node with the program.
import { parentPort } from "node:worker_threads";
import { serve } from "./serve.js";

parentPort.on("message", serve((m, moved) => parentPort.postMessage(m, moved), (receive) => receive));
