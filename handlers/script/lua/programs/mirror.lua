-- mirror answers with the request's body, of the request's type.
local kind = request.header("Content-Type")
response.type = kind and kind ~= "" and kind or "application/octet-stream"
for part in request.read do
  write(part)
end
