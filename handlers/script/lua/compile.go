package lua

import (
	"bytes"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// concatName is the local variable that holds the function to which ".." is
// compiled. No script can spell it.
const concatName = "(concat)"

// compile makes a function of a script, in which "a .. b .. c" calls
// [interpreter.concatenate]: the machine's own instruction can make a string
// of any length before anybody can stop it. The function gets that function
// as its argument.
func compile(name string, source []byte) (*lua.FunctionProto, error) {
	chunk, err := parse.Parse(bytes.NewReader(source), name)
	if err != nil {
		return nil, err
	}
	rewriteBlock(chunk)
	first := &ast.LocalAssignStmt{Names: []string{concatName}, Exprs: []ast.Expr{&ast.Comma3Expr{AdjustRet: true}}}
	return lua.Compile(append([]ast.Stmt{first}, chunk...), name)
}

func rewriteBlock(stmts []ast.Stmt) {
	for _, s := range stmts {
		rewriteStmt(s)
	}
}

func rewriteStmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		rewriteAll(s.Lhs)
		rewriteAll(s.Rhs)
	case *ast.LocalAssignStmt:
		rewriteAll(s.Exprs)
	case *ast.FuncCallStmt:
		rewrite(&s.Expr)
	case *ast.DoBlockStmt:
		rewriteBlock(s.Stmts)
	case *ast.WhileStmt:
		rewrite(&s.Condition)
		rewriteBlock(s.Stmts)
	case *ast.RepeatStmt:
		rewrite(&s.Condition)
		rewriteBlock(s.Stmts)
	case *ast.IfStmt:
		rewrite(&s.Condition)
		rewriteBlock(s.Then)
		rewriteBlock(s.Else)
	case *ast.NumberForStmt:
		rewrite(&s.Init)
		rewrite(&s.Limit)
		rewrite(&s.Step)
		rewriteBlock(s.Stmts)
	case *ast.GenericForStmt:
		rewriteAll(s.Exprs)
		rewriteBlock(s.Stmts)
	case *ast.FuncDefStmt:
		rewriteBlock(s.Func.Stmts)
	case *ast.ReturnStmt:
		rewriteAll(s.Exprs)
	}
}

func rewriteAll(exprs []ast.Expr) {
	for i := range exprs {
		rewrite(&exprs[i])
	}
}

// rewrite replaces what e points to, if it is a concatenation, and those in it.
func rewrite(e *ast.Expr) {
	switch x := (*e).(type) {
	case *ast.AttrGetExpr:
		rewrite(&x.Object)
		rewrite(&x.Key)
	case *ast.TableExpr:
		for _, f := range x.Fields {
			rewrite(&f.Key)
			rewrite(&f.Value)
		}
	case *ast.FuncCallExpr:
		rewrite(&x.Func)
		rewrite(&x.Receiver)
		rewriteAll(x.Args)
	case *ast.LogicalOpExpr:
		rewrite(&x.Lhs)
		rewrite(&x.Rhs)
	case *ast.RelationalOpExpr:
		rewrite(&x.Lhs)
		rewrite(&x.Rhs)
	case *ast.ArithmeticOpExpr:
		rewrite(&x.Lhs)
		rewrite(&x.Rhs)
	case *ast.UnaryMinusOpExpr:
		rewrite(&x.Expr)
	case *ast.UnaryNotOpExpr:
		rewrite(&x.Expr)
	case *ast.UnaryLenOpExpr:
		rewrite(&x.Expr)
	case *ast.FunctionExpr:
		rewriteBlock(x.Stmts)
	case *ast.StringConcatOpExpr:
		*e = concatCall(x)
	}
}

// mostArguments is how many operands go into one call: they take registers, of
// which a function has some 200.
const mostArguments = 50

// concatCall makes a call of a concatenation, and of those that are its right
// operand, since the operator binds to the right.
func concatCall(x *ast.StringConcatOpExpr) ast.Expr {
	fn := &ast.IdentExpr{Value: concatName}
	call := &ast.FuncCallExpr{Func: fn, AdjustRet: true}
	fn.SetLine(x.Line())
	call.SetLine(x.Line())
	call.SetLastLine(x.LastLine())
	for {
		rewrite(&x.Lhs)
		call.Args = append(call.Args, x.Lhs)
		right, ok := x.Rhs.(*ast.StringConcatOpExpr)
		if !ok || len(call.Args) == mostArguments {
			break
		}
		x = right
	}
	rewrite(&x.Rhs)
	// In brackets, so that a call at the end gives one value.
	last := x.Rhs
	switch v := last.(type) {
	case *ast.FuncCallExpr:
		v.AdjustRet = true
	case *ast.Comma3Expr:
		v.AdjustRet = true
	}
	call.Args = append(call.Args, last)
	return call
}
