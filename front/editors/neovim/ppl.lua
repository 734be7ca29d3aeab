-- Neovim (0.10 or later) with the language server of ppl.
--
-- Put this file into the folder ~/.config/nvim/plugin; the command ppl must be on the
-- path. doc/how-to/editors.md says what there is.

vim.filetype.add({ extension = { stan = 'stan', stanfunctions = 'stan', model = 'stan' } })

-- Shows the output of a run beside the model.
local function show(title, text)
  vim.cmd('botright new')
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].bufhidden = 'wipe'
  pcall(vim.api.nvim_buf_set_name, buffer, title)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, '\n'))
end

-- Asks the server to run or check the model of a buffer. The end of Neovim, and the
-- same command again, stop a run that is under way.
local function execute(command, buffer)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = 'ppl' })[1]
  if not client then
    vim.notify('ppl is not attached to this buffer', vim.log.levels.ERROR)
    return
  end
  local uri = vim.uri_from_bufnr(buffer)
  client.request('workspace/executeCommand', { command = command, arguments = { uri } }, function(err, result)
    if err then
      vim.notify(err.message, vim.log.levels.ERROR)
    elseif command == 'ppl.run' and result then
      show('ppl run ' .. vim.fs.basename(vim.uri_to_fname(uri)), result.output)
      vim.lsp.codelens.refresh({ bufnr = buffer })
    elseif command == 'ppl.report' and result and result.report then
      vim.ui.open(result.report)
    end
  end, buffer)
end

-- What the lenses above a model do.
for _, command in ipairs({ 'ppl.run', 'ppl.check', 'ppl.report' }) do
  vim.lsp.commands[command] = function(_, context) execute(command, context.bufnr) end
end

vim.api.nvim_create_autocmd('FileType', {
  pattern = 'stan',
  callback = function(event)
    vim.bo[event.buf].commentstring = '// %s'
    vim.lsp.start({
      name = 'ppl',
      cmd = { 'ppl', 'lsp' },
      root_dir = vim.fs.root(event.buf, { '.git' }) or vim.fs.dirname(vim.api.nvim_buf_get_name(event.buf)),
      -- init_options = { includePaths = { 'functions' }, runSeconds = 600, hints = 'all', runArguments = { '--seed', '1' } },
    }, { bufnr = event.buf })
  end,
})

vim.api.nvim_create_autocmd('LspAttach', {
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if not client or client.name ~= 'ppl' then return end
    vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
    vim.lsp.codelens.refresh({ bufnr = event.buf })
    vim.api.nvim_create_autocmd({ 'BufWritePost', 'InsertLeave' }, {
      buffer = event.buf,
      callback = function() vim.lsp.codelens.refresh({ bufnr = event.buf }) end,
    })
    vim.api.nvim_buf_create_user_command(event.buf, 'PplRun', function() execute('ppl.run', event.buf) end, {})
    vim.api.nvim_buf_create_user_command(event.buf, 'PplReport', function() execute('ppl.report', event.buf) end, {})
    vim.api.nvim_buf_create_user_command(event.buf, 'PplCheck', function() execute('ppl.check', event.buf) end, {})
  end,
})
