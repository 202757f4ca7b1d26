-- Neovim as a client of the server: prints `ok WHAT` or `not ok WHAT # WHAT WAS SEEN` for each thing that is checked.
local file = vim.env.HIP_FILE
local kernel = 'reduce_sum'

local function check(what, is_right, seen)
  io.stdout:write((is_right and 'ok ' or 'not ok ') .. what .. (is_right and '' or ' # ' .. vim.inspect(seen)) .. '\n')
end

--- Waits until `is_there()` is true.
local function wait(is_there, seconds)
  return vim.wait((seconds or 30) * 1000, is_there, 20)
end

vim.filetype.add({ extension = { hip = 'hip' } })
vim.o.swapfile = false
local progress, offered = {}, {}
vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    local params = event.data.params
    progress[params.token] = progress[params.token] or {}
    table.insert(progress[params.token], params.value)
  end,
})

vim.cmd.edit(file)
local buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start({
  name = 'kernel-scientist',
  cmd = { vim.env.KERNEL_SCIENTIST, 'lsp', '--stdio' },
  root_dir = vim.fs.dirname(file),
  handlers = {
    ['window/showMessageRequest'] = function(_, params)
      table.insert(offered, params.message)
      return vim.NIL
    end,
    ['window/showMessage'] = function(_, params)
      table.insert(offered, params.message)
    end,
  },
})
local client = vim.lsp.get_client_by_id(id)
check('initialize', wait(function() return client.initialized end), client.server_info)

local function place(what)
  for line, text in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local column = text:find(what, 1, true)
    if column then return { line, column } end
  end
end

local function lenses()
  vim.lsp.codelens.refresh({ bufnr = buffer })
  local titles = {}
  for _, lens in ipairs(vim.lsp.codelens.get(buffer)) do
    table.insert(titles, (lens.command or {}).title)
  end
  return titles
end

local function hints()
  vim.cmd.redraw()
  local labels = {}
  for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = buffer })) do
    table.insert(labels, hint.inlay_hint.label)
  end
  return labels
end

local function some(list, part)
  for _, text in ipairs(list) do
    if text:find(part, 1, true) then return true end
  end
  return false
end

--- Carries out a command; gives the job's number.
local function execute(command)
  local argument = { uri = vim.uri_from_bufnr(buffer), kernel = kernel }
  local answer = client:request_sync('workspace/executeCommand', {
    command = 'kernelScientist.' .. command,
    arguments = { argument },
  }, 30000, buffer)
  local token = 'kernel-scientist/job/' .. tostring(answer and answer.result and answer.result.job)
  return token
end

local function is_over(token)
  local reports = progress[token] or {}
  return #reports > 0 and reports[#reports].kind == 'end'
end

check('code lenses', wait(function() return table.concat(lenses(), ' ') == 'Time Suggest Evolve' end), lenses())

-- Those of a large file, which Neovim resolves by itself.
local small = buffer
local large = vim.fs.dirname(file) .. '/large.hip'
local lines = {}
for number = 1, 60 do lines[number] = '__global__ void k' .. number .. '(float* x) {}' end
vim.fn.writefile(lines, large)
vim.cmd.edit(large)
buffer = vim.api.nvim_get_current_buf()
vim.lsp.buf_attach_client(buffer, id)
check('lenses of a large file', wait(function()
  local titles = lenses()
  return #titles == 180 and titles[180] == 'Evolve' and titles[1] == 'Time'
end), #lenses())
vim.cmd.bdelete({ bang = true })
buffer = small
vim.api.nvim_set_current_buf(buffer)

vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
check('inlay hints', wait(function() return some(hints(), 'LDS 1 KiB') end), hints())

-- A time, with its progress, its hint and its line in the hover.
local token = execute('time')
check('progress', wait(function() return is_over(token) end, 120) and progress[token][1].kind == 'begin', progress)
check('a figure after a refresh', wait(function() return some(hints(), 'cpu emulation') end), hints())
vim.api.nvim_win_set_cursor(0, place(kernel .. '('))
vim.lsp.buf.hover()
local function float()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then return window end
  end
end
local is_shown = wait(float)
local shown = is_shown and vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float()), 0, -1, false) or {}
check('hover', some(shown, 'as now'), shown)
if is_shown then vim.api.nvim_win_close(float(), true) end

-- Typing moves the hints along.
local function line_of_figure()
  for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = buffer })) do
    if hint.inlay_hint.label:find('LDS', 1, true) then return hint.inlay_hint.position.line end
  end
end
local before = line_of_figure()
vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { '// 大😀' })
check('hints move', wait(function() hints() return line_of_figure() == before + 1 end), { before, line_of_figure() })

-- A hypothesis, applied through codeAction/resolve. What was typed before is an undo step of its own.
vim.o.undolevels = vim.o.undolevels
local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
vim.api.nvim_win_set_cursor(0, place('__shared__'))
local function apply()
  vim.lsp.buf.code_action({
    apply = true,
    context = { only = { 'refactor.rewrite.kernelScientist.apply' }, diagnostics = {} },
    filter = (function()
      local is_first = true
      return function()
        local takes = is_first
        is_first = false
        return takes
      end
    end)(),
  })
end
local function now()
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end
check('code action', wait(function()
  apply()
  return vim.wait(500, function() return now() ~= text end, 20)
end), now())
check('stale after a change', wait(function() return some(hints(), 'stale: ') end), hints())
vim.cmd.undo()
check('one undo', wait(function() return now() == text end), now())

-- What does not build is shown at its line.
local at = place('threadIdx.x;')
local line = vim.api.nvim_buf_get_lines(buffer, at[1] - 1, at[1], false)[1]
vim.api.nvim_buf_set_lines(buffer, at[1] - 1, at[1], false, { (line:gsub('threadIdx%.x', 'threadIdx.q')) })
token = execute('time')
check('diagnostics', wait(function()
  local found = vim.diagnostic.get(buffer)[1]
  return found ~= nil and found.lnum == at[1] - 1 and found.source == 'kernel-scientist'
end, 120), vim.diagnostic.get(buffer))
wait(function() return is_over(token) end)
vim.cmd.undo()

-- An evolution, cancelled.
token = execute('evolve')
local function is_evolving()
  for _, report in ipairs(progress[token] or {}) do
    if (report.message or ''):find('generation 1 of', 1, true) and report.percentage then return true end
  end
end
check('progress of an evolution', wait(is_evolving, 120), progress[token])
local start = vim.uv.hrtime()
client:notify('window/workDoneProgress/cancel', { token = token })
check('cancel', wait(function() return is_over(token) end) and vim.uv.hrtime() - start < 1e9, progress[token])

client:stop()
check('shutdown', wait(function() return client:is_stopped() end, 5), offered)
vim.cmd('qa!')
