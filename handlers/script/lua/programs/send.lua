-- send answers with exactly as many bytes as ?size says, A to Z again and again.
local usual, most = 10240, 16 * 1024 * 1024
local piece = string.rep("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 315)

-- asked returns the first size in a query, nil for one that is no plain number.
local function asked(query)
  for pair in string.gmatch(query, "[^&]+") do
    local text = string.match(pair, "^size=(.*)$")
    if text then
      return string.find(text, "^%d+$") and tonumber(text)
    end
  end
  return usual
end

local left = asked(request.query)
if not left or left > most then
  fail(400)
  return
end
response.type = "text/plain"
while left >= #piece do
  write(piece)
  left = left - #piece
end
write(string.sub(piece, 1, left))
