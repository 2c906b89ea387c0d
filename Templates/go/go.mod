module example.com/acme-keys

go 1.19
