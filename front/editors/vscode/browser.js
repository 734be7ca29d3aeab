// A session of a user in VS Code in a browser: code-server with the extension, driven
// through headless chromium. Ends with exit code 1 where something is not as it should be.
//
//   code-server --install-extension ppl.vsix
//   code-server --auth none --bind-addr 127.0.0.1:8499 --disable-workspace-trust FOLDER &
//   npm install --no-save puppeteer-core
//   CHROMIUM=/usr/bin/chromium FOLDER=FOLDER URL=http://127.0.0.1:8499 node browser.js
//
// The model m.stan and its data are written into FOLDER; pictures go to the folder of the
// variable SHOTS, if it is set.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const puppeteer = require('puppeteer-core');

const folder = process.env.FOLDER;
fs.writeFileSync(path.join(folder, 'm.stan'), `data {
  int<lower=0> N; // 😀 observations
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  y ~ normal(muu, sigma);
}
`);
fs.writeFileSync(path.join(folder, 'm.data.json'), '{"N": 3, "y": [1, 2, 3]}');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function session(browser) {
  const page = await browser.newPage();
  const shot = async (name) => {
    if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`) });
  };
  const text = () => page.evaluate(() => document.body.innerText.replace(/\u00a0/g, ' '));
  const until = async (what, ok) => {
    for (let i = 0; i < 300; i++) {
      if (await ok()) {
        console.log('ok:', what);
        return;
      }
      await sleep(200);
    }
    await shot('failed');
    assert.fail(what);
  };
  const errors = () => page.$$('.squiggly-error').then((list) => list.length);
  const chord = async (key) => {
    await page.keyboard.down('Control');
    await page.keyboard.press(key);
    await page.keyboard.up('Control');
  };
  // The middle of the first element whose text contains a word.
  const middle = (selector, word) => page.evaluate((s, w) => {
    const found = [...document.querySelectorAll(s)].find((e) => e.textContent.includes(w));
    const r = found?.getBoundingClientRect();
    return r && [r.x + Math.min(r.width / 2, 40), r.y + r.height / 2];
  }, selector, word);

  await page.goto(`${process.env.URL}/?folder=${encodeURIComponent(folder)}`, { waitUntil: 'domcontentloaded', timeout: 90000 });
  await until('the folder', () => middle('.explorer-folders-view .monaco-list-row', 'm.stan'));
  await sleep(2000);
  await page.mouse.click(...await middle('.explorer-folders-view .monaco-list-row', 'm.stan'), { count: 2 });
  await until('the mistake is marked', async () => await errors() === 1);
  await until('lenses', async () => (await text()).includes('run with m.data.json'));
  await until('sizes from the data', async () => (await text()).includes('= 3'));
  await shot('mistake');

  await chord('KeyG');
  await sleep(1500);
  await page.keyboard.type('10:15');
  await page.keyboard.press('Enter');
  await sleep(1500);
  await chord('Period');
  await until('the quick fix', async () => (await text()).includes('Write `mu`'));
  await page.keyboard.press('Enter');
  await until('the mistake is fixed', async () => await errors() === 0);

  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('mu ~ stud', { delay: 150 });
  await until('completion', async () => !!await middle('.suggest-widget', 'student_t'));
  await sleep(1000);
  await shot('completion');
  await page.keyboard.press('Enter');
  await until('the arguments', async () => (await text()).includes('student_t(nu, mu, sigma)'));
  for (const value of ['3', '0', '5']) {
    await page.keyboard.type(value, { delay: 100 });
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Escape');
  await page.keyboard.press('End');
  await page.keyboard.type(';');
  await until('no mistakes', async () => await errors() === 0);
  await chord('KeyS');
  await sleep(1500);

  await page.mouse.click(...await middle('.codelens-decoration a', 'run'));
  await until('the result of the run', async () => /sigma\s+[\d.]+/.test(await text()));
  await sleep(1000);
  await shot('run');

  await page.keyboard.press('F1');
  await sleep(1500);
  await page.keyboard.type('Show the report of the last run', { delay: 20 });
  await sleep(1500);
  await page.keyboard.press('Enter');
  await until('the report', async () => {
    for (const frame of page.frames()) {
      const found = await frame.evaluate(() => /ppl report/.test(document.body?.innerText ?? '')).catch(() => false);
      if (found) return true;
    }
    return false;
  });
  await sleep(1500);
  await shot('report');
}

(async () => {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM, headless: 'new', args: ['--no-sandbox', '--disable-gpu'], defaultViewport: { width: 1300, height: 900 },
  });
  try {
    await session(browser);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
})();
