-- A session of a user in headless Neovim, which ends with exit code 1 where something is
-- not as it should be:
--
--     nvim -n --clean --headless -c 'source ppl.lua' -c 'luafile test.lua' FOLDER/model.stan
--
-- FOLDER can be written to; it is given as the environment variable PPL_TEST_FOLDER.

local folder = assert(os.getenv('PPL_TEST_FOLDER'), 'PPL_TEST_FOLDER is not set')

local function check(ok, what, got)
  if not ok then
    io.stderr:write('FAILED: ' .. what .. ': ' .. vim.inspect(got) .. '\n')
    os.exit(1)
  end
  print('ok: ' .. what .. '\n')
end

-- Waits until get gives something, and returns it.
local function wait(what, get)
  local got
  local ok = vim.wait(20000, function()
    got = get()
    return got ~= nil and got ~= false
  end, 20)
  check(ok, what, got)
  return got
end

local function write(name, text)
  local file = assert(io.open(folder .. '/' .. name, 'w'))
  file:write(text)
  file:close()
end

write('model.stan', [[
data {
  int<lower=0> N; // 😀 observations
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  y ~ normal(muu, sigma);
  mu ~ normal(0, 10);
  sigma ~ exponential(1);
}
]])
write('model.data.json', '{"N": 3, "y": [1, 2, 3]}')
vim.cmd('edit ' .. folder .. '/model.stan')
local buffer = vim.api.nvim_get_current_buf()
check(vim.bo.filetype == 'stan', 'the type of the file', vim.bo.filetype)
local client = wait('the server is attached', function() return vim.lsp.get_clients({ bufnr = buffer, name = 'ppl' })[1] end)

local function errors() return vim.diagnostic.get(buffer, { severity = vim.diagnostic.severity.ERROR }) end
local found = wait('a diagnostic', function() return errors()[1] end)
check(found.lnum == 9 and found.col == 13 and found.code == 'E0201' and found.message:find('mu'), 'the diagnostic', found)

local function request(method, params)
  local answer = client.request_sync(method, params, 20000, buffer)
  check(answer and not answer.err, method, answer)
  return answer.result
end
local function place(line, character)
  return { textDocument = { uri = vim.uri_from_bufnr(buffer) }, position = { line = line, character = character } }
end

-- The quick fix, through Neovim's own code actions.
vim.api.nvim_win_set_cursor(0, { 10, 14 })
vim.lsp.buf.code_action({ apply = true, filter = function(a) return a.kind == 'quickfix' end })
wait('the fix', function() return vim.api.nvim_buf_get_lines(buffer, 9, 10, false)[1] == '  y ~ normal(mu, sigma);' end)
wait('no more errors', function() return #errors() == 0 end)

-- Completion in a half-written statement.
vim.api.nvim_buf_set_lines(buffer, 10, 11, false, { '  mu ~ nor' })
local completion = request('textDocument/completion', place(10, 10))
local labels = {}
for _, item in ipairs(completion.items) do labels[item.label] = item end
check(labels.normal and labels.normal.textEdit.newText:find('^normal'), 'the completion', labels.normal)
check(not labels.exp, 'functions are not offered as distributions', labels.exp)
vim.api.nvim_buf_set_lines(buffer, 10, 11, false, { '  mu ~ normal(0, 10);' })
wait('no errors after completion', function() return #errors() == 0 end)

-- Hover and signature, with a character of two UTF-16 units before.
local hover = request('textDocument/hover', place(1, 15))
check(hover.contents.value:find('😀 observations', 1, true), 'the hover', hover)
check(request('textDocument/signatureHelp', place(9, 18)).activeParameter == 1, 'the signature')

-- Renaming, through Neovim.
vim.api.nvim_win_set_cursor(0, { 6, 7 })
vim.lsp.buf.rename('location')
wait('the new name', function()
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  return text:find('real location;', 1, true) and text:find('normal(location, sigma)', 1, true) and text:find('location ~ normal', 1, true)
end)
local refused = client.request_sync('textDocument/rename', vim.tbl_extend('force', place(5, 7), { newName = 'sigma' }), 20000, buffer)
check(refused.err and refused.err.message:find('sigma'), 'a name that is taken is refused', refused)

-- Inlay hints, in Neovim's own store.
local hints = wait('inlay hints', function()
  local list = vim.lsp.inlay_hint.get({ bufnr = buffer })
  return #list >= 2 and list
end)
local texts = {}
for _, h in ipairs(hints) do texts[h.inlay_hint.label] = true end
check(texts['= 3'] and texts[': [3]'], 'the sizes from the data', texts)

-- Definition, formatting, semantic tokens, lenses.
vim.api.nvim_win_set_cursor(0, { 10, 15 })
vim.lsp.buf.definition()
wait('the definition', function() return vim.api.nvim_win_get_cursor(0)[1] == 6 end)
vim.api.nvim_buf_set_lines(buffer, 11, 12, false, { 'sigma~exponential( 1 );' })
vim.lsp.buf.format({ timeout_ms = 20000 })
check(vim.api.nvim_buf_get_lines(buffer, 11, 12, false)[1] == '  sigma ~ exponential(1);', 'the layout', vim.api.nvim_buf_get_lines(buffer, 0, -1, false))
check(#request('textDocument/semanticTokens/full', { textDocument = { uri = vim.uri_from_bufnr(buffer) } }).data > 50, 'semantic tokens')
vim.cmd('write')
wait('lenses', function() return #vim.lsp.codelens.get(buffer) == 2 end)

-- A run, shown in a separate window.
vim.cmd('PplRun')
wait('the result of a run', function()
  for _, b in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[b].buftype == 'nofile' then
      local text = table.concat(vim.api.nvim_buf_get_lines(b, 0, -1, false), '\n')
      return text:find('location') and text:find('mean')
    end
  end
end)

-- The server ends when Neovim does.
vim.lsp.stop_client(client.id)
wait('the end', function() return client.is_stopped() end)
print('all is well\n')
vim.cmd('qa!')
