module costs

go 1.19
