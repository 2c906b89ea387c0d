module device

go 1.19
