// What the types of @ppl/engine accept, and what they must refuse.
import { compile, sample, ModelError, type Fit, type Message, type Model } from "@ppl/engine";

const model: Model = await compile("parameters { real x; } model { x ~ std_normal(); }", { name: "m.stan" });
const fit: Fit = await sample(model, { data: { y: new Float64Array(3), n: 3n, k: [[1, 2], [3, 4]] }, seed: 1n, onProgress: (p) => p.iteration / p.total });
const column: Float64Array[] = fit.draws(fit.names[0]!);
const messages: Message[] = new ModelError().messages;
const mean: number = (await model.sample()).summary[0]!.mean;
// @ts-expect-error: there is no such setting
await sample(model, { chain: 1 });
// @ts-expect-error: a function is no value of data
await sample(model, { data: { f: () => 1 } });
void [column, messages, mean];
