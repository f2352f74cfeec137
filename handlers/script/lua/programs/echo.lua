-- echo answers with the CGI variables of the request, one NAME=value a line,
-- sorted; then for a POST a blank line and the body.
response.type = "text/plain"
local variables, names = request.variables(), {}
for name in pairs(variables) do
  names[#names + 1] = name
end
table.sort(names)
for _, name in ipairs(names) do
  write(name, "=", variables[name], "\n")
end
if request.method == "POST" then
  write("\n")
  for part in request.read do
    write(part)
  end
end
